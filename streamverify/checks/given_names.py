"""Given names, and whether two of them may be one person's.

Before: `namesakes.py` has the words before a surname. After: it tells two people of one surname apart.
"""

from __future__ import annotations

from streamverify.text.words import fold, listed

GIVEN_NAMES = frozenset(
    listed("""
    aaron abdul abdullah abigail adam adele adrian agata agnes ahmed aisha aiko alan albert alberto
    alejandro aleksandr alessandro alex alexander alexandra alfonso alfred alice alicia alina alison
    amanda amelia amina amir amy ana anders andre andrea andreas andrew andrzej angela angelo angus anita
    anja ann anna anne annette annika anthony antoine anton antonia antonio arjun arthur arturo astrid
    audrey axel barbara beatrice beatriz ben benedict benjamin bernard bernd bert bianca bill birgit bjorn
    bob boris brenda brian bridget bruce bruno camilla camille carl carla carlo carlos carmen carol
    caroline catherine cecilia celine chantal charles charlie charlotte chiara chloe chris christian
    christina christine christoph christopher claire clara claude claudia colin connor cristina cynthia
    dagmar daisy dan daniel daniela danielle darren david deborah denise dennis derek diana diane diego
    dieter dimitri dmitri dominic dominik dominique donald dora doris dorothy duncan dylan ebba eddie
    edgar edith eduardo edward edwin eileen elaine eleanor elena eleni elias elif elio elisa elisabeth
    elise elizabeth ella ellen elsa emil emilia emilie emilio emily emma emmanuel enrico enrique eric
    erica erik erika ernest ernst esther ethan eva evelyn fabian fabio fatima federico felicity felix
    fernando fiona florence florian frances francesca francesco francis francisco francois frank franz
    fred frederick frida friedrich fritz gabriel gabriela gareth gary gavin geoffrey georg george georgina
    gerald gerard gerhard gert gianni gilbert gina giorgio giovanni giulia giuseppe gordon graham greg
    gregory greta guido guillaume gunnar gunther gustav hannah hans harald harold harriet harry hassan
    heather hector heidi heinrich heinz helen helena helga helmut henri henrik henry herbert hilda hiroshi
    holger howard hugh hugo hussein ian ibrahim ida ignacio igor ines inga inge ingrid irene iris isaac
    isabel isabella isabelle isaiah isla ivan jack jacob jacqueline jacques jakob jakub james jamie jan
    jana jane janet janine jasmine jason javier jean jeff jeffrey jennifer jenny jens jeremy jessica jill
    jim joachim joan joanna joao joe joel johan johann johannes john jonas jonathan jorge jose josef
    joseph josephine joshua joyce juan judith julia julian julie juliet juliette jurgen justin kaito karel
    karen karin karl karla kate katarina katharina katherine kathleen kathryn katja katrin kazuo keiko
    keith kenji kenneth kevin khalid kim kirsten klara klaus konrad konstantin kristina kurt lars laura
    laurent lauren lawrence layla lea leah leila lena leo leon leonard leonardo leonie leroy leslie liam
    lidia lina linda linus lisa lise liv lorenzo louis louise luc luca lucas lucia lucy ludwig luigi luis
    luisa lukas luke lydia magda magdalena magnus malcolm manfred manuel mara marc marcel marco marcus
    margaret margarita maria mariam marian marianne marie marina mario marion mark marko markus marlene
    marta martha martin martina mary mateo mateusz mathilde matteo matthew matthias maurice max maximilian
    maya megan mehmet mei melanie melissa michael michal michel michele michelle miguel mika mikael mike
    mikhail mila milan mildred milena miriam mohamed mohammed moira molly monica monika moritz muhammad
    nadia nadine nancy naomi natalia natalie natasha nathan neil nelson nicholas nick nicola nicolas
    nicole niels nigel nikolai nils nina noah noel nora norbert norma olaf oleg olga oliver olivia olivier
    omar oscar oskar otto pablo pamela paola paolo pascal patricia patrick paul paula pauline pavel pedro
    peggy penelope per peter petra philip philippe phoebe pierre pieter pilar piotr priya rachel rafael
    rainer ralph ramon raquel ravi raymond rebecca reinhard renate ricardo riccardo richard rita robert
    roberto robin rodrigo roger roland rolf romeo ronald rosa rosalind rosemary ruben rudolf rupert ruth
    ryan sabine sakura salim sally salma salvatore sam samantha samir samuel sandra sara sarah sean
    sebastian serena sergei sergio sheila shirley sigrid silvia simon simone sofia sofie solveig sonia
    sophia sophie stanislav stefan stefania stefano stella stephanie stephen steve steven stuart sue sunil
    susan susanna susanne sven svetlana sylvia takeshi tamara tanya tatiana ted teresa terry theo theodore
    theresa thomas tiago tilda tim timothy tobias tom tomas tomasz toni tony torsten trevor udo ulrich
    ulrike ursula uta valentina valerie vanessa vera verena veronica victor victoria vikram vincent
    vincenzo viola virginia vivian vladimir walter wanda wendy werner wilhelm willem william winifred
    wolfgang xavier yannick yasmin yosef yusuf yuki yuri yves yvonne zoe zofia
    """)
)
"""Common ones, folded: a word that is none of them may be one, and these are."""

_NICKNAMES = """
robert bob bobby rob | william bill billy will liam | richard dick rick | edward ted teddy ned eddie
margaret peggy meg maggie rita greta | elizabeth liz beth betty lisa elisa eliza elsa ella
thomas tom tommy | katherine catherine kate katie kathy karen katharina kathryn
anthony antonio tony toni | henry harry hank | charles charlie chuck carlos karl carl | lawrence larry
michael mike mick mikhail misha | joseph joe jose josef | stephen steve steven stefan
john jack johnny jon sean ian ivan juan johann johannes hans jan jean | james jim jimmy jamie
mary molly polly maria marie | sarah sally | alexander sasha sandy alejandro alessandro
frederick fred friedrich fritz | alfred fred | albert bert | gilbert bert | herbert bert
francisco paco pancho | giuseppe beppe | jose pepe | andrew andy drew andreas andre | susan sue
jeffrey jeff geoffrey geoff | patricia pat tricia trish | christina tina kristina | martina tina
dorothy dot dolly | eleanor nell nora ellen | helen nell ellen lena elena | rebecca becky | deborah debbie
barbara babs | frances fran fanny | jennifer jenny | nicholas nick klaus nikolai | philip pip filip
ronald ron | donald don | david dave | peter pete piotr pierre | theodore ted theo | leonard len lenny leo
vladimir volodya vova | dmitri dima | sergei seryozha | anna nancy
"""
_SAME = [frozenset(listed(row)) for row in _NICKNAMES.replace("\n", "|").split("|") if row]
_BEGINNING = 3
"""Letters that a name and its short form, or its form in another language, share."""


def may_be_one(one: str, other: str) -> bool:
    """Whether two given names may be one person's: Tom and Thomas, Beth and Elizabeth, Anna and Anne."""
    first, second = fold(one), fold(other)
    shorter, longer = sorted((first, second), key=len)
    if shorter[:_BEGINNING] == longer[:_BEGINNING] or shorter in longer:
        return True
    return any(first in names and second in names for names in _SAME)
