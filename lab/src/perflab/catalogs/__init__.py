"""The catalogs of operators that a lab offers: packages as YAML, rendered as the file-based catalogs that OLM reads.

An operator is an entry in a file of `packages/`, its CustomResourceDefinitions a file of `crds/`; `catalogs.yaml` says
which catalogs there are, and by which images a CatalogSource is one of them.
"""
