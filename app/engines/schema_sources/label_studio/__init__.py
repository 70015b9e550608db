"""Import labeling configurations from Label Studio, which are XML.

In this package, a tag is an XML element of the configuration, as in Label Studio's documentation.
"""
