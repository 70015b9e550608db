"""Compute invoices and credit notes, and render them as EN 16931 XML and as PDF/A-3.

This library contains no database access, plans or tax rates. Amounts are `Decimal`, rounded half up
to the currency's minor unit, once for each line and once for each tax. Text from users is shown
literally; markup in it has no effect. See docs/decisions/0070-invoices-as-files.md.
"""
