"""The catalogs of operators that a lab offers: packages as YAML, rendered as the file-based catalogs that OLM reads.

An operator is an entry in a file of `packages/`, its CustomResourceDefinitions are a file of `crds/catalogs/`.
`catalogs.yaml` lists the catalogs and the images by which a CatalogSource selects one.
"""
