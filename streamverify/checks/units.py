"""Units of measurement, money and time as tables: names to a dimension and a factor.

Only dimensions in which an answer and its source really differ in unit are here. Time is two
dimensions on purpose: a month has no fixed number of days, so 90 days never equals 3 months. Spoons
of recipes are one of their own: they differ by country.
"""

from __future__ import annotations

from typing import NamedTuple

from streamverify.text.words import listed


class Unit(NamedTuple):
    """How a number with this unit is brought to the base unit of its dimension."""

    dimension: str
    factor: float
    metric: bool = True
    """False for customary units: conversions across the border are rounded in practice."""
    others: tuple[str, ...] = ()
    """Units that the same word may stand for as well."""


_TABLE: dict[str, dict[float, str]] = {
    "ratio": {
        0.01: "%|percent|per cent|percentage|pct|per-cent|percent of|％",
        0.001: "‰|per mille|permille",
        0.0001: "‱",
        1e-6: "ppm|parts per million",
        1e-9: "ppb|parts per billion",
    },
    "point": {
        1.0: "percentage points|percentage point|percent points|pp|points",
        0.01: "basis points|basis point|bps|bp",
    },
    "times": {1.0: "times|time|x|×|fold|-fold"},
    "seconds": {
        1e-9: "ns|nanosecond|nanoseconds",
        1e-6: "µs|us|μs|microsecond|microseconds",
        1e-3: "ms|msec|millisecond|milliseconds",
        1.0: "s|sec|secs|second|seconds",
        60.0: "min|mins|minute|minutes",
        3600.0: "h|hr|hrs|hour|hours",
        86400.0: "d|day|days|night|nights",
        604800.0: "wk|wks|week|weeks",
    },
    "months": {
        1.0: "mo|mos|month|months",
        3.0: "quarters",
        12.0: "yr|yrs|year|years|annum",
        120.0: "decade|decades",
        1200.0: "century|centuries",
    },
    "length": {
        1e-9: "nm|nanometre|nanometres|nanometer|nanometers",
        1e-6: "µm|μm|micron|microns|micrometre|micrometres|micrometer|micrometers",
        1e-3: "mm|millimetre|millimetres|millimeter|millimeters",
        1e-2: "cm|centimetre|centimetres|centimeter|centimeters",
        1.0: "m|metre|metres|meter|meters",
        1e3: "km|kilometre|kilometres|kilometer|kilometers|kms",
        -0.0254: "inch|inches|″",
        -0.3048: "ft|foot|feet|′",
        -0.9144: "yard|yards|yd|yds",
        -1609.344: "mile|miles|mi",
        -1852.0: "nautical mile|nautical miles|nmi",
    },
    "area": {
        1e-4: "cm²|cm2|square centimetre|square centimetres|square centimeter|square centimeters",
        1.0: "m²|m2|sq m|sqm|square metre|square metres|square meter|square meters",
        1e4: "ha|hectare|hectares",
        1e6: "km²|km2|sq km|square kilometre|square kilometres|square kilometer|square kilometers",
        -0.09290304: "ft²|ft2|sq ft|square foot|square feet",
        -4046.8564224: "acre|acres",
        -2589988.110336: "mi²|mi2|sq mi|square mile|square miles",
    },
    "volume": {
        1e-6: "ml|mL|millilitre|millilitres|milliliter|milliliters|cm³",
        1e-5: "cl|cL|centilitre|centilitres|centiliter|centiliters",
        1e-4: "dl|dL|decilitre|decilitres|deciliter|deciliters",
        1e-3: "l|L|litre|litres|liter|liters",
        1.0: "m³|m3|cubic metre|cubic metres|cubic meter|cubic meters",
        -0.003785411784: "gallon|gallons|gal|US gallon|US gallons|us gallon|us gallons",
        -0.00454609: "imperial gallon|imperial gallons|UK gallon|UK gallons|uk gallon|uk gallons",
        -0.158987294928: "barrel|barrels|bbl",
    },
    "spoons": {
        1.0: "tsp|tsps|teaspoon|teaspoons|teaspoonful|teaspoonfuls",
        3.0: "tbsp|tbsps|tbs|tablespoon|tablespoons|tablespoonful|tablespoonfuls",
    },
    "mass": {
        1e-9: "µg|μg|ug|mcg|microgram|micrograms",
        1e-6: "mg|milligram|milligrams|milligramme|milligrammes",
        1e-3: "g|gram|grams|gramme|grammes",
        1.0: "kg|kgs|kilo|kilos|kilogram|kilograms|kilogramme|kilogrammes",
        1e3: "t|tonne|tonnes|metric ton|metric tons|ton|tons",
        1e6: "kt|kiloton|kilotons|kilotonne|kilotonnes",
        1e9: "Mt|megaton|megatons|megatonne|megatonnes",
        -0.028349523125: "oz|ounce|ounces",
        -0.45359237: "lb|lbs|pound weight",
    },
    "bytes": {
        0.125: "bit|bits",
        0.125e3: "kbit|kilobit|kilobits",
        0.125e6: "Mbit|Mb|megabit|megabits",
        0.125e9: "Gbit|Gb|gigabit|gigabits",
        1.0: "B|byte|bytes",
        1e3: "kB|KB|kilobyte|kilobytes",
        1e6: "MB|megabyte|megabytes",
        1e9: "GB|gigabyte|gigabytes",
        1e12: "TB|terabyte|terabytes",
        1e15: "PB|petabyte|petabytes",
        1024.0: "KiB|kibibyte|kibibytes",
        1048576.0: "MiB|mebibyte|mebibytes",
        1073741824.0: "GiB|gibibyte|gibibytes",
        1099511627776.0: "TiB|tebibyte|tebibytes",
    },
    "bytes per second": {
        0.125e3: "kbit/s|kbps|kb/s|kilobits per second",
        0.125e6: "Mbit/s|Mbps|Mb/s|megabits per second",
        0.125e9: "Gbit/s|Gbps|Gb/s|gigabits per second",
        1e3: "kB/s|KB/s|kilobytes per second",
        1e6: "MB/s|megabytes per second",
        1e9: "GB/s|gigabytes per second",
    },
    "grams per litre": {
        1e-6: "µg/l|µg/L|μg/l|micrograms per litre|micrograms per liter",
        1e-3: "mg/l|mg/L|milligrams per litre|milligrams per liter",
        1.0: "g/l|g/L|grams per litre|grams per liter",
        1e-2: "mg/dl|mg/dL|milligrams per decilitre|milligrams per deciliter",
    },
    "watts": {
        1e-3: "mW|milliwatt|milliwatts",
        1.0: "W|watt|watts",
        1e3: "kW|kilowatt|kilowatts",
        1e6: "MW|megawatt|megawatts",
        1e9: "GW|gigawatt|gigawatts",
        735.49875: "PS",
        -745.69987: "hp|horsepower",
    },
    "watt hours": {
        1.0: "Wh|watt-hour|watt-hours|watt hour|watt hours",
        1e3: "kWh|kilowatt-hour|kilowatt-hours|kilowatt hour|kilowatt hours",
        1e6: "MWh|megawatt-hour|megawatt-hours|megawatt hours",
        1e9: "GWh|gigawatt-hours|gigawatt hours",
        1e12: "TWh|terawatt-hours|terawatt hours",
    },
    "hertz": {1.0: "Hz|hertz", 1e3: "kHz|kilohertz", 1e6: "MHz|megahertz", 1e9: "GHz|gigahertz"},
    "volts": {1e-3: "mV|millivolt|millivolts", 1.0: "V|volt|volts", 1e3: "kV|kilovolt|kilovolts"},
    "ampere hours": {1e-3: "mAh|milliampere hours|milliamp hours", 1.0: "Ah|ampere hours|amp hours"},
    "amperes": {1e-3: "mA|milliamp|milliamps", 1.0: "A|amp|amps|ampere|amperes"},
    "pressure": {
        1.0: "mmHg|mm Hg",
        0.00750062: "Pa|pascal|pascals",
        0.750062: "hPa|mbar|millibar|millibars|hectopascal|hectopascals",
        7.50062: "kPa|kilopascal|kilopascals",
        750.062: "bar|bars",
        7500.62: "MPa|megapascal|megapascals",
        760.0: "atm|atmospheres",
        -51.7149: "psi",
    },
    "speed": {
        1.0: "km/h|kmh|kph|kilometres per hour|kilometers per hour",
        3.6: "m/s|metres per second|meters per second",
        3600.0: "km/s|kilometres per second|kilometers per second",
        -1.09728: "ft/s|feet per second",
        -1.609344: "mph|miles per hour",
        -1.852: "knot|knots",
    },
    "joules": {
        1.0: "J|joule|joules",
        1e3: "kJ|kilojoule|kilojoules",
        4184.0: "kcal|kilocalorie|kilocalories|calories",
    },
    "celsius": {
        1.0: "°c|°C|° C|degrees celsius|degree celsius|celsius|degrees centigrade|℃|degrees c|degree c"
    },
    "fahrenheit": {-1.0: "°f|°F|° F|degrees fahrenheit|degree fahrenheit|fahrenheit|℉|degrees f|degree f"},
    "kelvin": {1.0: "kelvin|kelvins"},
    "degrees": {1.0: "°|degree|degrees"},
    "USD": {1.0: "$|US$|USD|dollar|dollars|US dollars|us dollars|usd|bucks"},
    "AUD": {1.0: "A$|AU$|AUD|Australian dollars|australian dollars"},
    "CAD": {1.0: "C$|CA$|CAD|Canadian dollars|canadian dollars"},
    "NZD": {1.0: "NZ$|NZD|New Zealand dollars|new zealand dollars"},
    "HKD": {1.0: "HK$|HKD|Hong Kong dollars|hong kong dollars"},
    "SGD": {1.0: "S$|SGD|Singapore dollars|singapore dollars"},
    "BRL": {1.0: "R$|BRL|reais"},
    "EUR": {1.0: "€|EUR|euro|euros|eur", 0.01: "cent|cents|¢"},
    "GBP": {1.0: "£|GBP|pound|pounds|pounds sterling|gbp|quid", 0.01: "pence|penny|p"},
    "JPY": {1.0: "¥|JPY|yen"},
    "INR": {1.0: "₹|INR|rupee|rupees|Rs"},
    "CHF": {1.0: "CHF|franc|francs|Fr."},
    "CNY": {1.0: "CNY|RMB|yuan|renminbi"},
    "crowns": {1.0: "crown|crowns"},
    "SEK": {1.0: "SEK|krona|kronor"},
    "NOK": {1.0: "NOK|krone|kroner"},
    "DKK": {1.0: "DKK"},
    "CZK": {1.0: "CZK|koruna|koruny"},
}

_ALSO: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("pound", "pounds"), ("lb",)),
    **dict.fromkeys(("°", "degree", "degrees"), ("°C", "°F")),
    **dict.fromkeys(("gallon", "gallons", "gal"), ("imperial gallon",)),
    **dict.fromkeys(("basis points", "basis point", "bps", "bp"), ("‱",)),
    **dict.fromkeys(("$", "dollar", "dollars", "bucks"), ("AUD", "CAD", "NZD", "HKD", "SGD")),
    **dict.fromkeys(("crown", "crowns"), ("SEK", "NOK", "DKK", "CZK")),
    **dict.fromkeys(("krone", "kroner"), ("DKK",)),
}
"""Names that stand for units of several kinds: pounds of money or of weight, degrees of whichever scale,
dollars of whichever country."""

UNITS: dict[str, Unit] = {
    name: Unit(dimension, abs(factor), factor > 0, _ALSO.get(name, ()))
    for dimension, factors in _TABLE.items()
    for factor, names in factors.items()
    for name in names.split("|")
}
"""Every spelling; one whose case matters (mW, MW) is looked up as written before it is lowered."""

LONGEST = max(name.count(" ") for name in UNITS) + 1
"""Words in the longest name."""

FIRST_WORDS = frozenset(name.split(" ")[0] for name in UNITS)
"""First words of the names: another word begins none, as written or lowered."""

BINARY = {1e3: 2.0**10, 1e6: 2.0**20, 1e9: 2.0**30, 1e12: 2.0**40}
"""Bytes of a kB, MB, GB, TB to those who count by 1,024: 4 GB are 4,096 MB to them."""

SYMBOLS_BEFORE = "$€£¥₹"

CODES_BEFORE = (
    "US$",
    "AU$",
    "CA$",
    "NZ$",
    "HK$",
    "A$",
    "C$",
    "S$",
    "R$",
    "USD",
    "EUR",
    "GBP",
    "CHF",
    "JPY",
    "INR",
    "CNY",
    "SEK",
    "NOK",
    "DKK",
    "CZK",
    "CAD",
    "AUD",
    "NZD",
    "HKD",
    "SGD",
    "BRL",
    "Rs",
)

BETWEEN = frozenset(
    listed(
        "working business calendar consecutive full more extra additional further whole complete clear "
        "paid straight "
        "successive entire school trading metric long fully other"
    )
)
"""Adjectives that may stand between a number and its unit: twenty *working* days."""


def unit_named(name: str) -> Unit | None:
    """The unit of that spelling, as written or lowered; None when there is none."""
    return UNITS.get(name) or (UNITS.get(name.lower()) if len(name) > 1 else None)
