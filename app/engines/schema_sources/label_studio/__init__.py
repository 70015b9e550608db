"""Import the XML labeling configurations of Label Studio.

In this package, a tag is an XML element of the configuration, as in Label Studio's documentation.
"""
