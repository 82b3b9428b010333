"""Lands, their peoples and the codes of three letters that stand for them: Poland, Polish, Poles, POL.

Before: `aliases.py` looks for a name. After: it asks for the other names of the same land. Adjectives that
begin like their land (Kenya, Kenyan) would be found without; they stand here for the codes.
"""

from __future__ import annotations

from collections.abc import Iterator

from streamverify.text.words import listed

_LANDS = """
afghanistan afghan = AFG | albania albanian = ALB | algeria algerian = ALG DZA | andorra andorran = AND
angola angolan = ANG AGO | argentina argentine argentinian argentinean = ARG | armenia armenian = ARM
australia australian aussie = AUS | austria austrian = AUT | azerbaijan azerbaijani azeri = AZE
bahamas bahamian = BAH BHS | bahrain bahraini = BRN BHR | bangladesh bangladeshi = BAN BGD
barbados barbadian = BAR BRB | belarus belarusian byelorussian = BLR | belgium belgian = BEL
belize belizean = BIZ BLZ | benin beninese = BEN | bhutan bhutanese = BHU BTN | bolivia bolivian = BOL
bosnia bosnian herzegovina = BIH | botswana botswanan = BOT BWA | brazil brazilian = BRA
bulgaria bulgarian bulgar = BUL BGR | burundi burundian = BDI | cambodia cambodian khmer = CAM KHM
cameroon cameroonian = CMR | canada canadian = CAN | chad chadian = CHA TCD | chile chilean = CHI CHL
china chinese = CHN | colombia colombian = COL | congo congolese = CGO COG COD
~rica ~rican costa_rica costa_rican = CRC CRI | croatia croatian croat = CRO HRV | cuba cuban = CUB
cyprus cypriot = CYP | czechia czech czech_republic = CZE | denmark danish dane = DEN DNK
~dominican dominican_republic = DOM | ecuador ecuadorian ecuadorean = ECU | egypt egyptian = EGY
~salvador el_salvador salvadoran salvadorian = ESA SLV
england english englishman englishmen englishwoman = ENG | eritrea eritrean = ERI | estonia estonian = EST
eswatini swazi swaziland = SWZ | ethiopia ethiopian = ETH | fiji fijian = FIJ FJI
finland finnish finn = FIN | france french frenchman frenchmen frenchwoman frenchwomen = FRA
gabon gabonese = GAB | gambia gambian = GAM GMB | georgia georgian = GEO | germany german = GER DEU
ghana ghanaian = GHA | greece greek hellenic = GRE GRC | guatemala guatemalan = GUA GTM
guinea guinean = GUI GIN | guyana guyanese = GUY | haiti haitian = HAI HTI | honduras honduran = HON HND
hungary hungarian = HUN | iceland icelandic icelander = ISL | india indian = IND
indonesia indonesian = INA IDN | iran iranian persian = IRI IRN | iraq iraqi = IRQ
ireland irish irishman irishmen irishwoman irishwomen = IRL | israel israeli = ISR | italy italian = ITA
ivory_coast ivorian ivoire = CIV | jamaica jamaican = JAM | japan japanese = JPN | jordan jordanian = JOR
kazakhstan kazakh kazakhstani = KAZ | kenya kenyan = KEN | korea korean = KOR PRK
kosovo kosovar kosovan = KOS XKX | kuwait kuwaiti = KUW KWT | kyrgyzstan kyrgyz = KGZ
laos lao laotian = LAO | latvia latvian = LAT LVA | lebanon lebanese = LBN LIB | lesotho basotho = LES LSO
liberia liberian = LBR | libya libyan = LBA LBY | liechtenstein liechtensteiner = LIE
lithuania lithuanian = LTU | luxembourg luxembourger = LUX | macedonia macedonian = MKD
madagascar malagasy madagascan = MAD MDG | malawi malawian = MAW MWI | malaysia malaysian = MAS MYS
maldives maldivian = MDV | mali malian = MLI | malta maltese = MLT | mauritania mauritanian = MTN MRT
mauritius mauritian = MRI MUS | mexico mexican = MEX | moldova moldovan = MDA
monaco monegasque = MON MCO | mongolia mongolian = MGL MNG | montenegro montenegrin = MNE
morocco moroccan = MAR | mozambique mozambican = MOZ | myanmar burma burmese = MYA MMR
namibia namibian = NAM | nepal nepali nepalese = NEP NPL
netherlands dutch holland dutchman dutchmen dutchwoman dutchwomen = NED NLD
~zealand ~zealander new_zealand kiwi = NZL | nicaragua nicaraguan = NCA NIC | niger nigerien = NIG NER
nigeria nigerian = NGR NGA | norway norwegian = NOR | oman omani = OMA OMN | pakistan pakistani = PAK
palestine palestinian = PLE PSE | panama panamanian = PAN | paraguay paraguayan = PAR PRY
peru peruvian = PER | philippines philippine filipino filipina = PHI PHL | poland polish pole = POL
portugal portuguese = POR PRT | ~rico puerto_rico puerto_rican = PUR PRI | qatar qatari = QAT
romania romanian = ROU | russia russian = RUS | rwanda rwandan = RWA
saudi ~arabia saudi_arabia = KSA SAU
scotland scottish scot scots scotsman scotsmen scotswoman scotswomen = SCO | senegal senegalese = SEN
serbia serbian serb = SRB | seychelles seychellois = SEY SYC | singapore singaporean = SGP SIN
slovakia slovak slovakian = SVK | slovenia slovene slovenian = SLO SVN | somalia somali = SOM
~africa ~african south_africa south_african = RSA ZAF | spain spanish spaniard = ESP
~lanka ~lankan sri_lanka sri_lankan = SRI LKA | sudan sudanese = SUD SDN | suriname surinamese = SUR
sweden swedish swede = SWE | switzerland swiss = SUI CHE | syria syrian = SYR | taiwan taiwanese = TPE TWN
tajikistan tajik = TJK | tanzania tanzanian = TAN TZA | thailand thai = THA | togo togolese = TOG TGO
trinidad trinidadian tobago = TTO | tunisia tunisian = TUN | turkey turkish turk turkiye = TUR
turkmenistan turkmen = TKM | uganda ugandan = UGA | ukraine ukrainian = UKR
emirates emirati uae united_arab_emirates = UAE ARE
uk british britain briton brit great_britain united_kingdom = GBR
us usa usd america american united_states united_states_of_america = USA | uruguay uruguayan = URU URY
uzbekistan uzbek = UZB | venezuela venezuelan = VEN | vietnam vietnamese = VIE VNM
wales welsh welshman welshmen welshwoman welshwomen = WAL | yemen yemeni = YEM | zambia zambian = ZAM ZMB
zimbabwe zimbabwean = ZIM ZWE
"""
"""One land after the other: its names and those of its people, and the codes of sport and of ISO 3166.

A name behind `~` names other things too: the land's other names are as good as it, and it as none of them.
"""

ALSO_WORDS = frozenset(listed("brit china kiwi pole polish swede turkey"))
"""Those that are other words too: they must stand in capitals."""
WORDY_CODES = frozenset(
    listed("AND ARM BAN BAR BEN CAN DEN EST GUY HON LIE MAD MAR NIG PAN PAR PER SEN SIN TAN")
)
"""Codes that are words: they must stand in parentheses, or alone in a cell."""


def _rows() -> Iterator[tuple[list[str], list[str]]]:
    for row in _LANDS.replace("\n", "|").split("|"):
        names, _, codes = row.partition("=")
        if names:
            yield [name.replace("_", " ") for name in listed(names)], listed(codes)


def _tables() -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    others: dict[str, tuple[str, ...]] = {}
    codes: dict[str, tuple[str, ...]] = {}
    for names, short in _rows():
        several = [f"{name}s" for name in names if name[-1] not in "sh" and not name.endswith("ese")]
        every = (*names, *several)
        sure = tuple(name for name in every if name[0] != "~")
        for name in every:
            others[name.removeprefix("~")] = sure
            codes[name.removeprefix("~")] = tuple(short)
        others |= dict.fromkeys(short, sure)
    return others, codes


LAND_NAMES, LAND_CODES = _tables()
"""By a name, folded, or a code, in capitals: the names of the same land. By a name: its codes."""
