"""What is wrong with a strategy set as XML, in plain words; the words of the XML library do not reach users.

The schema is the only place for what an attribute may be: the words for that are made from it.
"""

import re
from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from lxml import etree

SCHEMA_FILE = Path(__file__).with_name("strategies.xsd")

_XS = "{http://www.w3.org/2001/XMLSchema}"
_NAMES = re.compile(r"Element '(.*?)'(?:, attribute '(.*?)')?: (?:The attribute '(.*?)')?", re.DOTALL)

_MALFORMED = {
    "ERR_DOCUMENT_EMPTY": "it has no element",
    "ERR_DOCUMENT_END": "something follows after the end of the first element",
    "ERR_TAG_NAME_MISMATCH": "an element is closed by a tag of another name",
    "ERR_TAG_NOT_FINISHED": "the file ends before every element is closed",
    "ERR_GT_REQUIRED": "a tag is not closed by '>'",
    "ERR_SPACE_REQUIRED": "a space is missing, or a value has no closing quote",
    "ERR_NAME_REQUIRED": "no valid name where one is needed; write &lt; for '<' and &amp; for '&' in values",
    "ERR_ATTRIBUTE_NOT_STARTED": "the value of an attribute is not in quotes",
    "ERR_ATTRIBUTE_NOT_FINISHED": "the value of an attribute has no closing quote",
    "ERR_ATTRIBUTE_WITHOUT_VALUE": "an attribute has no value",
    "ERR_ATTRIBUTE_REDEFINED": "an attribute is given twice",
    "ERR_LT_IN_ATTRIBUTE": "'<' in a value; write &lt;",
    "ERR_ENTITYREF_SEMICOL_MISSING": "'&' without ';'; write &amp; for '&'",
    "ERR_UNDECLARED_ENTITY": "an entity that is not defined; only &lt; &gt; &amp; &quot; and &apos; are",
    "WAR_UNDECLARED_ENTITY": "an entity that is not defined; only &lt; &gt; &amp; &quot; and &apos; are",
    "ERR_INVALID_CHAR": "a character that XML does not allow",
    "ERR_INVALID_CHARREF": "a character that XML does not allow",
    "ERR_INVALID_ENCODING": "bytes that are not UTF-8; save the file as UTF-8",
    "ERR_COMMENT_NOT_FINISHED": "a comment is not closed",
    "ERR_HYPHEN_IN_COMMENT": "'--' inside a comment",
    "ERR_CDATA_NOT_FINISHED": "a CDATA section is not closed",
    "ERR_MISPLACED_CDATA_END": "']]>' outside a CDATA section",
    "ERR_PI_NOT_STARTED": "a processing instruction without a name",
    "ERR_PI_NOT_FINISHED": "a processing instruction is not closed",
    "ERR_RESERVED_XML_NAME": "an XML declaration that is not at the very beginning, or not complete",
    "ERR_XMLDECL_NOT_STARTED": "the XML declaration is not valid",
    "ERR_XMLDECL_NOT_FINISHED": "the XML declaration is not valid",
    "ERR_STANDALONE_VALUE": "the XML declaration is not valid",
    "ERR_VERSION_MISSING": "the XML declaration has no version",
    "ERR_UNKNOWN_VERSION": "a version of XML other than 1.0",
    "ERR_NAME_TOO_LONG": "a name that is too long",
    "ERR_RESOURCE_LIMIT": "elements inside elements too deep, or a value that is too long",
    "ERR_INTERNAL_ERROR": "elements inside elements too deep, or a value that is too long",
    "NS_ERR_UNDEFINED_NAMESPACE": "a prefix that is not defined; strategies need none",
    "NS_ERR_XML_NAMESPACE": "a namespace that is not valid; strategies need none",
    "NS_ERR_QNAME": "a name with more than one colon",
    "NS_ERR_COLON": "a name with a colon in the wrong place",
}


def malformed(error: etree.XMLSyntaxError) -> tuple[int, str]:
    """Return the line and what is wrong there; the library leaves the line of some errors to its log."""
    log = list(error.error_log)
    name, line = _NAMES_OF_CODES.get(error.code, ""), error.lineno or 0
    if not line and log:
        name, line = log[-1].type_name, log[-1].line
    return line or 1, f"not well-formed XML: {_MALFORMED.get(name, 'look at this line and the one before')}"


def not_of_schema(entry: Any, root: etree._Element) -> str:
    """Return what is wrong, by an entry of the schema's log."""
    element, attribute, missing = _found_names(entry.message)
    kind = entry.type_name.removeprefix("SCHEMAV_")
    if kind == "CVC_COMPLEX_TYPE_4":
        return f"{element} has no {missing}; give {wanted()[missing]}"
    if kind in ("CVC_COMPLEX_TYPE_3_2_1", "CVC_COMPLEX_TYPE_3_2_2"):
        return f"{element} has an unknown attribute {shown(attribute)}; {_remedy(attribute)}"
    if attribute in wanted():
        return f"{attribute} is {_value_at(entry.path, attribute, root)}; give {wanted()[attribute]}"
    if kind == "ELEMENT_CONTENT":
        return "no strategy in it; give at least one PairsStrategy"
    if kind in ("CVC_COMPLEX_TYPE_2_1", "CVC_COMPLEX_TYPE_2_3"):
        return f"text inside {element}; remove it"
    return f"{element} is not as strategies.xsd describes it; compare it with a generated strategy"


def _found_names(message: str) -> tuple[str, str, str]:
    found = _NAMES.match(message)
    return (found[1] or "", found[2] or "", found[3] or "") if found else ("", "", "")


def shown(name: str) -> str:
    """Return the name of an element or attribute with its namespace, as XML schemas write it, in words."""
    namespace, _, local = name.rpartition("}")
    return f"{local!r} of the namespace {namespace[1:]!r}" if namespace else repr(local)


def _remedy(attribute: str) -> str:
    near = [] if "}" in attribute else get_close_matches(attribute, wanted(), 1, 0.7)
    return f"did you mean {near[0]}?" if near else "remove it"


def _value_at(path: str, attribute: str, root: etree._Element) -> str:
    [element] = root.getroottree().xpath(path)
    value = str(element.get(attribute, ""))
    return repr(value if len(value) <= 40 else value[:40] + "...") if value else "empty"


@cache
def wanted() -> dict[str, str]:
    """Return what every attribute may be, in words made from the schema."""
    schema = etree.parse(SCHEMA_FILE).getroot()
    types = {kind.get("name"): kind.find(f"{_XS}restriction") for kind in schema.iter(f"{_XS}simpleType")}
    return {
        attribute.get("name"): " ".join(_type_words(types[attribute.get("type")]))
        for attribute in schema.iter(f"{_XS}attribute")
    }


def _type_words(restriction: etree._Element) -> Iterator[str]:
    """Yield the words for a type of the schema."""
    base = str(restriction.get("base")).removeprefix("xs:")
    limits = {str(facet.tag).removeprefix(_XS): facet.get("value", "") for facet in restriction}
    if base == "string":
        yield f"{limits['minLength']} to {limits['maxLength']} characters"
    elif base == "decimal":
        yield f"a decimal number above {limits['minExclusive']}"
        yield f"and below {limits['maxExclusive']}" if "maxExclusive" in limits else f"up to {_high(limits)}"
        if "fractionDigits" in limits:
            yield f"with at most {limits['fractionDigits']} decimals"
    else:
        yield f"a whole number from {limits.get('minInclusive', '1')} to {_high(limits)}"


def _high(limits: dict[str, str]) -> str:
    return f"{int(limits['maxInclusive']):,}"


_NAMES_OF_CODES = {
    code: name for name, code in vars(etree.ErrorTypes).items() if name in _MALFORMED and isinstance(code, int)
}
