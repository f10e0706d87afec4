module perflab/definitions/network-attachment-definition-client

go 1.22

require github.com/k8snetworkplumbingwg/network-attachment-definition-client v1.7.5
