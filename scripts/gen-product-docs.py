#!/usr/bin/env python3
"""Writes the page about the kinds of products to stdout, from dialects/cpu/Products.inc.

usage: gen-product-docs.py
"""
import os
import re
import sys

TABLE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "dialects", "cpu", "Products.inc")
COLUMNS = ("product", "weights", "group", "sums", "needs", "registers of a sum, of weights", "rows of a tile",
           "form of rows", "form of weights", "meaning")


def rows(source):
    """Yields the columns of each row of the table."""
    for match in re.finditer(r"^INGOT_PRODUCT\((.*?)\)$", source, re.S | re.M):
        text = re.findall(r'"([^"]*)"|([^\s,"]+)', match.group(1))
        meaning = "".join(quoted for quoted, plain in text[2:] if quoted)
        mnemonic = text[1][0]
        (weights, group, total, block, needs, _, sum_registers, weight_registers, of16, of32, form_of_rows,
         form_of_weights, _) = (plain for _, plain in text[2:] if plain)
        total += f", first {block} products as {weights}" if block != "0" else ""
        instructions = "" if needs == "nullptr" else needs.replace("&TargetInfo::has", "")
        yield (f"`{mnemonic}`", weights, group, total, instructions, f"{sum_registers}, {weight_registers}",
               of16 if of16 == of32 else f"{of16} of 16 registers, {of32} of 32", form_of_rows, form_of_weights, meaning)


def main():
    if len(sys.argv) > 1:
        print(__doc__.strip(), file=sys.stderr if sys.argv[1] != "--help" else sys.stdout)
        return 0 if sys.argv[1] == "--help" else 2
    with open(TABLE, encoding="utf-8") as f:
        table = list(rows(f.read()))
    print("# Products\n\nA product is a micro-kernel: how the products of rows and columns are summed up. `#cpu.tile` names it;\n"
          "`dialects/cpu/Products.inc` explains the columns.\n")
    for row in (COLUMNS, ("---",) * len(COLUMNS), *table):
        print("| " + " | ".join(row) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
