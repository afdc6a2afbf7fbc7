/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in resources as data. Written by tools/gen-resources: change that, not this. Invariant:
 * row n describes constant n of ki_builtin, and both orders name each row once. */
#include "object/resource.h"

/* clang-format off */
#define NONE() NULL
#define SHORT(...) ((const char *const[]){__VA_ARGS__, NULL})
#define CORE(version, name, singular, kind, namespaced, short_names) \
    {"", version, name, singular, kind, version, short_names, namespaced, true}
#define GROUP(group, version, name, singular, kind, namespaced, short_names) \
    {group, version, name, singular, kind, group "/" version, short_names, namespaced, true}
/* clang-format on */

const ki_resource ki__builtin_resources[KI_BUILTIN_MAX] = {
    [KI_BUILTIN_CORE_V1_BINDINGS] = CORE("v1", "bindings", "binding", "Binding", true, NONE()),
    [KI_BUILTIN_CORE_V1_COMPONENTSTATUSES] =
        CORE("v1", "componentstatuses", "componentstatus", "ComponentStatus", false, SHORT("cs")),
    [KI_BUILTIN_CORE_V1_CONFIGMAPS] =
        CORE("v1", "configmaps", "configmap", "ConfigMap", true, SHORT("cm")),
    [KI_BUILTIN_CORE_V1_ENDPOINTS] =
        CORE("v1", "endpoints", "endpoints", "Endpoints", true, SHORT("ep")),
    [KI_BUILTIN_CORE_V1_EVENTS] = CORE("v1", "events", "event", "Event", true, SHORT("ev")),
    [KI_BUILTIN_CORE_V1_LIMITRANGES] =
        CORE("v1", "limitranges", "limitrange", "LimitRange", true, SHORT("limits")),
    [KI_BUILTIN_CORE_V1_NAMESPACES] =
        CORE("v1", "namespaces", "namespace", "Namespace", false, SHORT("ns")),
    [KI_BUILTIN_CORE_V1_NODES] = CORE("v1", "nodes", "node", "Node", false, SHORT("no")),
    [KI_BUILTIN_CORE_V1_PERSISTENTVOLUMECLAIMS] =
        CORE("v1", "persistentvolumeclaims", "persistentvolumeclaim", "PersistentVolumeClaim", true,
             SHORT("pvc")),
    [KI_BUILTIN_CORE_V1_PERSISTENTVOLUMES] =
        CORE("v1", "persistentvolumes", "persistentvolume", "PersistentVolume", false, SHORT("pv")),
    [KI_BUILTIN_CORE_V1_PODS] = CORE("v1", "pods", "pod", "Pod", true, SHORT("po")),
    [KI_BUILTIN_CORE_V1_PODTEMPLATES] =
        CORE("v1", "podtemplates", "podtemplate", "PodTemplate", true, NONE()),
    [KI_BUILTIN_CORE_V1_REPLICATIONCONTROLLERS] =
        CORE("v1", "replicationcontrollers", "replicationcontroller", "ReplicationController", true,
             SHORT("rc")),
    [KI_BUILTIN_CORE_V1_RESOURCEQUOTAS] =
        CORE("v1", "resourcequotas", "resourcequota", "ResourceQuota", true, SHORT("quota")),
    [KI_BUILTIN_CORE_V1_SECRETS] = CORE("v1", "secrets", "secret", "Secret", true, NONE()),
    [KI_BUILTIN_CORE_V1_SERVICEACCOUNTS] =
        CORE("v1", "serviceaccounts", "serviceaccount", "ServiceAccount", true, SHORT("sa")),
    [KI_BUILTIN_CORE_V1_SERVICES] =
        CORE("v1", "services", "service", "Service", true, SHORT("svc")),
    [KI_BUILTIN_ADMISSIONREGISTRATION_V1_MUTATINGADMISSIONPOLICIES] =
        GROUP("admissionregistration.k8s.io", "v1", "mutatingadmissionpolicies",
              "mutatingadmissionpolicy", "MutatingAdmissionPolicy", false, NONE()),
    [KI_BUILTIN_ADMISSIONREGISTRATION_V1_MUTATINGADMISSIONPOLICYBINDINGS] =
        GROUP("admissionregistration.k8s.io", "v1", "mutatingadmissionpolicybindings",
              "mutatingadmissionpolicybinding", "MutatingAdmissionPolicyBinding", false, NONE()),
    [KI_BUILTIN_ADMISSIONREGISTRATION_V1_MUTATINGWEBHOOKCONFIGURATIONS] =
        GROUP("admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations",
              "mutatingwebhookconfiguration", "MutatingWebhookConfiguration", false, NONE()),
    [KI_BUILTIN_ADMISSIONREGISTRATION_V1_VALIDATINGADMISSIONPOLICIES] =
        GROUP("admissionregistration.k8s.io", "v1", "validatingadmissionpolicies",
              "validatingadmissionpolicy", "ValidatingAdmissionPolicy", false, NONE()),
    [KI_BUILTIN_ADMISSIONREGISTRATION_V1_VALIDATINGADMISSIONPOLICYBINDINGS] = GROUP(
        "admissionregistration.k8s.io", "v1", "validatingadmissionpolicybindings",
        "validatingadmissionpolicybinding", "ValidatingAdmissionPolicyBinding", false, NONE()),
    [KI_BUILTIN_ADMISSIONREGISTRATION_V1_VALIDATINGWEBHOOKCONFIGURATIONS] =
        GROUP("admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations",
              "validatingwebhookconfiguration", "ValidatingWebhookConfiguration", false, NONE()),
    [KI_BUILTIN_ADMISSIONREGISTRATION_V1BETA1_MUTATINGADMISSIONPOLICIES] =
        GROUP("admissionregistration.k8s.io", "v1beta1", "mutatingadmissionpolicies",
              "mutatingadmissionpolicy", "MutatingAdmissionPolicy", false, NONE()),
    [KI_BUILTIN_ADMISSIONREGISTRATION_V1BETA1_MUTATINGADMISSIONPOLICYBINDINGS] =
        GROUP("admissionregistration.k8s.io", "v1beta1", "mutatingadmissionpolicybindings",
              "mutatingadmissionpolicybinding", "MutatingAdmissionPolicyBinding", false, NONE()),
    [KI_BUILTIN_ADMISSIONREGISTRATION_V1BETA1_MUTATINGWEBHOOKCONFIGURATIONS] =
        GROUP("admissionregistration.k8s.io", "v1beta1", "mutatingwebhookconfigurations",
              "mutatingwebhookconfiguration", "MutatingWebhookConfiguration", false, NONE()),
    [KI_BUILTIN_ADMISSIONREGISTRATION_V1BETA1_VALIDATINGADMISSIONPOLICIES] =
        GROUP("admissionregistration.k8s.io", "v1beta1", "validatingadmissionpolicies",
              "validatingadmissionpolicy", "ValidatingAdmissionPolicy", false, NONE()),
    [KI_BUILTIN_ADMISSIONREGISTRATION_V1BETA1_VALIDATINGADMISSIONPOLICYBINDINGS] = GROUP(
        "admissionregistration.k8s.io", "v1beta1", "validatingadmissionpolicybindings",
        "validatingadmissionpolicybinding", "ValidatingAdmissionPolicyBinding", false, NONE()),
    [KI_BUILTIN_ADMISSIONREGISTRATION_V1BETA1_VALIDATINGWEBHOOKCONFIGURATIONS] =
        GROUP("admissionregistration.k8s.io", "v1beta1", "validatingwebhookconfigurations",
              "validatingwebhookconfiguration", "ValidatingWebhookConfiguration", false, NONE()),
    [KI_BUILTIN_ADMISSIONREGISTRATION_V1ALPHA1_MUTATINGADMISSIONPOLICIES] =
        GROUP("admissionregistration.k8s.io", "v1alpha1", "mutatingadmissionpolicies",
              "mutatingadmissionpolicy", "MutatingAdmissionPolicy", false, NONE()),
    [KI_BUILTIN_ADMISSIONREGISTRATION_V1ALPHA1_MUTATINGADMISSIONPOLICYBINDINGS] =
        GROUP("admissionregistration.k8s.io", "v1alpha1", "mutatingadmissionpolicybindings",
              "mutatingadmissionpolicybinding", "MutatingAdmissionPolicyBinding", false, NONE()),
    [KI_BUILTIN_ADMISSIONREGISTRATION_V1ALPHA1_VALIDATINGADMISSIONPOLICIES] =
        GROUP("admissionregistration.k8s.io", "v1alpha1", "validatingadmissionpolicies",
              "validatingadmissionpolicy", "ValidatingAdmissionPolicy", false, NONE()),
    [KI_BUILTIN_ADMISSIONREGISTRATION_V1ALPHA1_VALIDATINGADMISSIONPOLICYBINDINGS] = GROUP(
        "admissionregistration.k8s.io", "v1alpha1", "validatingadmissionpolicybindings",
        "validatingadmissionpolicybinding", "ValidatingAdmissionPolicyBinding", false, NONE()),
    [KI_BUILTIN_APIEXTENSIONS_V1_CUSTOMRESOURCEDEFINITIONS] =
        GROUP("apiextensions.k8s.io", "v1", "customresourcedefinitions", "customresourcedefinition",
              "CustomResourceDefinition", false, SHORT("crd", "crds")),
    [KI_BUILTIN_APIEXTENSIONS_V1BETA1_CUSTOMRESOURCEDEFINITIONS] =
        GROUP("apiextensions.k8s.io", "v1beta1", "customresourcedefinitions",
              "customresourcedefinition", "CustomResourceDefinition", false, SHORT("crd", "crds")),
    [KI_BUILTIN_APIREGISTRATION_V1_APISERVICES] = GROUP(
        "apiregistration.k8s.io", "v1", "apiservices", "apiservice", "APIService", false, NONE()),
    [KI_BUILTIN_APIREGISTRATION_V1BETA1_APISERVICES] =
        GROUP("apiregistration.k8s.io", "v1beta1", "apiservices", "apiservice", "APIService", false,
              NONE()),
    [KI_BUILTIN_APPS_V1_CONTROLLERREVISIONS] =
        GROUP("apps", "v1", "controllerrevisions", "controllerrevision", "ControllerRevision", true,
              NONE()),
    [KI_BUILTIN_APPS_V1_DAEMONSETS] =
        GROUP("apps", "v1", "daemonsets", "daemonset", "DaemonSet", true, SHORT("ds")),
    [KI_BUILTIN_APPS_V1_DEPLOYMENTS] =
        GROUP("apps", "v1", "deployments", "deployment", "Deployment", true, SHORT("deploy")),
    [KI_BUILTIN_APPS_V1_REPLICASETS] =
        GROUP("apps", "v1", "replicasets", "replicaset", "ReplicaSet", true, SHORT("rs")),
    [KI_BUILTIN_APPS_V1_STATEFULSETS] =
        GROUP("apps", "v1", "statefulsets", "statefulset", "StatefulSet", true, SHORT("sts")),
    [KI_BUILTIN_APPS_V1BETA2_CONTROLLERREVISIONS] =
        GROUP("apps", "v1beta2", "controllerrevisions", "controllerrevision", "ControllerRevision",
              true, NONE()),
    [KI_BUILTIN_APPS_V1BETA2_DAEMONSETS] =
        GROUP("apps", "v1beta2", "daemonsets", "daemonset", "DaemonSet", true, SHORT("ds")),
    [KI_BUILTIN_APPS_V1BETA2_DEPLOYMENTS] =
        GROUP("apps", "v1beta2", "deployments", "deployment", "Deployment", true, SHORT("deploy")),
    [KI_BUILTIN_APPS_V1BETA2_REPLICASETS] =
        GROUP("apps", "v1beta2", "replicasets", "replicaset", "ReplicaSet", true, SHORT("rs")),
    [KI_BUILTIN_APPS_V1BETA2_STATEFULSETS] =
        GROUP("apps", "v1beta2", "statefulsets", "statefulset", "StatefulSet", true, SHORT("sts")),
    [KI_BUILTIN_APPS_V1BETA1_CONTROLLERREVISIONS] =
        GROUP("apps", "v1beta1", "controllerrevisions", "controllerrevision", "ControllerRevision",
              true, NONE()),
    [KI_BUILTIN_APPS_V1BETA1_DEPLOYMENTS] =
        GROUP("apps", "v1beta1", "deployments", "deployment", "Deployment", true, SHORT("deploy")),
    [KI_BUILTIN_APPS_V1BETA1_STATEFULSETS] =
        GROUP("apps", "v1beta1", "statefulsets", "statefulset", "StatefulSet", true, SHORT("sts")),
    [KI_BUILTIN_AUTHENTICATION_V1_SELFSUBJECTREVIEWS] =
        GROUP("authentication.k8s.io", "v1", "selfsubjectreviews", "selfsubjectreview",
              "SelfSubjectReview", false, NONE()),
    [KI_BUILTIN_AUTHENTICATION_V1_TOKENREVIEWS] = GROUP(
        "authentication.k8s.io", "v1", "tokenreviews", "tokenreview", "TokenReview", false, NONE()),
    [KI_BUILTIN_AUTHENTICATION_V1BETA1_SELFSUBJECTREVIEWS] =
        GROUP("authentication.k8s.io", "v1beta1", "selfsubjectreviews", "selfsubjectreview",
              "SelfSubjectReview", false, NONE()),
    [KI_BUILTIN_AUTHENTICATION_V1BETA1_TOKENREVIEWS] =
        GROUP("authentication.k8s.io", "v1beta1", "tokenreviews", "tokenreview", "TokenReview",
              false, NONE()),
    [KI_BUILTIN_AUTHENTICATION_V1ALPHA1_SELFSUBJECTREVIEWS] =
        GROUP("authentication.k8s.io", "v1alpha1", "selfsubjectreviews", "selfsubjectreview",
              "SelfSubjectReview", false, NONE()),
    [KI_BUILTIN_AUTHORIZATION_V1_LOCALSUBJECTACCESSREVIEWS] =
        GROUP("authorization.k8s.io", "v1", "localsubjectaccessreviews", "localsubjectaccessreview",
              "LocalSubjectAccessReview", true, NONE()),
    [KI_BUILTIN_AUTHORIZATION_V1_SELFSUBJECTACCESSREVIEWS] =
        GROUP("authorization.k8s.io", "v1", "selfsubjectaccessreviews", "selfsubjectaccessreview",
              "SelfSubjectAccessReview", false, NONE()),
    [KI_BUILTIN_AUTHORIZATION_V1_SELFSUBJECTRULESREVIEWS] =
        GROUP("authorization.k8s.io", "v1", "selfsubjectrulesreviews", "selfsubjectrulesreview",
              "SelfSubjectRulesReview", false, NONE()),
    [KI_BUILTIN_AUTHORIZATION_V1_SUBJECTACCESSREVIEWS] =
        GROUP("authorization.k8s.io", "v1", "subjectaccessreviews", "subjectaccessreview",
              "SubjectAccessReview", false, NONE()),
    [KI_BUILTIN_AUTHORIZATION_V1BETA1_LOCALSUBJECTACCESSREVIEWS] =
        GROUP("authorization.k8s.io", "v1beta1", "localsubjectaccessreviews",
              "localsubjectaccessreview", "LocalSubjectAccessReview", true, NONE()),
    [KI_BUILTIN_AUTHORIZATION_V1BETA1_SELFSUBJECTACCESSREVIEWS] =
        GROUP("authorization.k8s.io", "v1beta1", "selfsubjectaccessreviews",
              "selfsubjectaccessreview", "SelfSubjectAccessReview", false, NONE()),
    [KI_BUILTIN_AUTHORIZATION_V1BETA1_SELFSUBJECTRULESREVIEWS] =
        GROUP("authorization.k8s.io", "v1beta1", "selfsubjectrulesreviews",
              "selfsubjectrulesreview", "SelfSubjectRulesReview", false, NONE()),
    [KI_BUILTIN_AUTHORIZATION_V1BETA1_SUBJECTACCESSREVIEWS] =
        GROUP("authorization.k8s.io", "v1beta1", "subjectaccessreviews", "subjectaccessreview",
              "SubjectAccessReview", false, NONE()),
    [KI_BUILTIN_AUTOSCALING_V2_HORIZONTALPODAUTOSCALERS] =
        GROUP("autoscaling", "v2", "horizontalpodautoscalers", "horizontalpodautoscaler",
              "HorizontalPodAutoscaler", true, SHORT("hpa")),
    [KI_BUILTIN_AUTOSCALING_V1_HORIZONTALPODAUTOSCALERS] =
        GROUP("autoscaling", "v1", "horizontalpodautoscalers", "horizontalpodautoscaler",
              "HorizontalPodAutoscaler", true, SHORT("hpa")),
    [KI_BUILTIN_BATCH_V1_CRONJOBS] =
        GROUP("batch", "v1", "cronjobs", "cronjob", "CronJob", true, SHORT("cj")),
    [KI_BUILTIN_BATCH_V1_JOBS] = GROUP("batch", "v1", "jobs", "job", "Job", true, NONE()),
    [KI_BUILTIN_BATCH_V1BETA1_CRONJOBS] =
        GROUP("batch", "v1beta1", "cronjobs", "cronjob", "CronJob", true, SHORT("cj")),
    [KI_BUILTIN_CERTIFICATES_V1_CERTIFICATESIGNINGREQUESTS] =
        GROUP("certificates.k8s.io", "v1", "certificatesigningrequests",
              "certificatesigningrequest", "CertificateSigningRequest", false, SHORT("csr")),
    [KI_BUILTIN_CERTIFICATES_V1_CLUSTERTRUSTBUNDLES] =
        GROUP("certificates.k8s.io", "v1", "clustertrustbundles", "clustertrustbundle",
              "ClusterTrustBundle", false, NONE()),
    [KI_BUILTIN_CERTIFICATES_V1_PODCERTIFICATEREQUESTS] =
        GROUP("certificates.k8s.io", "v1", "podcertificaterequests", "podcertificaterequest",
              "PodCertificateRequest", true, NONE()),
    [KI_BUILTIN_CERTIFICATES_V1BETA1_CERTIFICATESIGNINGREQUESTS] =
        GROUP("certificates.k8s.io", "v1beta1", "certificatesigningrequests",
              "certificatesigningrequest", "CertificateSigningRequest", false, SHORT("csr")),
    [KI_BUILTIN_CERTIFICATES_V1BETA1_CLUSTERTRUSTBUNDLES] =
        GROUP("certificates.k8s.io", "v1beta1", "clustertrustbundles", "clustertrustbundle",
              "ClusterTrustBundle", false, NONE()),
    [KI_BUILTIN_CERTIFICATES_V1BETA1_PODCERTIFICATEREQUESTS] =
        GROUP("certificates.k8s.io", "v1beta1", "podcertificaterequests", "podcertificaterequest",
              "PodCertificateRequest", true, NONE()),
    [KI_BUILTIN_CERTIFICATES_V1ALPHA1_CLUSTERTRUSTBUNDLES] =
        GROUP("certificates.k8s.io", "v1alpha1", "clustertrustbundles", "clustertrustbundle",
              "ClusterTrustBundle", false, NONE()),
    [KI_BUILTIN_COORDINATION_V1_LEASES] =
        GROUP("coordination.k8s.io", "v1", "leases", "lease", "Lease", true, NONE()),
    [KI_BUILTIN_COORDINATION_V1BETA1_LEASECANDIDATES] =
        GROUP("coordination.k8s.io", "v1beta1", "leasecandidates", "leasecandidate",
              "LeaseCandidate", true, NONE()),
    [KI_BUILTIN_COORDINATION_V1BETA1_LEASES] =
        GROUP("coordination.k8s.io", "v1beta1", "leases", "lease", "Lease", true, NONE()),
    [KI_BUILTIN_COORDINATION_V1ALPHA2_LEASECANDIDATES] =
        GROUP("coordination.k8s.io", "v1alpha2", "leasecandidates", "leasecandidate",
              "LeaseCandidate", true, NONE()),
    [KI_BUILTIN_DISCOVERY_V1_ENDPOINTSLICES] = GROUP(
        "discovery.k8s.io", "v1", "endpointslices", "endpointslice", "EndpointSlice", true, NONE()),
    [KI_BUILTIN_DISCOVERY_V1BETA1_ENDPOINTSLICES] =
        GROUP("discovery.k8s.io", "v1beta1", "endpointslices", "endpointslice", "EndpointSlice",
              true, NONE()),
    [KI_BUILTIN_EVENTS_V1_EVENTS] =
        GROUP("events.k8s.io", "v1", "events", "event", "Event", true, SHORT("ev")),
    [KI_BUILTIN_EVENTS_V1BETA1_EVENTS] =
        GROUP("events.k8s.io", "v1beta1", "events", "event", "Event", true, SHORT("ev")),
    [KI_BUILTIN_EXTENSIONS_V1BETA1_DAEMONSETS] =
        GROUP("extensions", "v1beta1", "daemonsets", "daemonset", "DaemonSet", true, SHORT("ds")),
    [KI_BUILTIN_EXTENSIONS_V1BETA1_DEPLOYMENTS] = GROUP(
        "extensions", "v1beta1", "deployments", "deployment", "Deployment", true, SHORT("deploy")),
    [KI_BUILTIN_EXTENSIONS_V1BETA1_INGRESSES] =
        GROUP("extensions", "v1beta1", "ingresses", "ingress", "Ingress", true, SHORT("ing")),
    [KI_BUILTIN_EXTENSIONS_V1BETA1_NETWORKPOLICIES] =
        GROUP("extensions", "v1beta1", "networkpolicies", "networkpolicy", "NetworkPolicy", true,
              SHORT("netpol")),
    [KI_BUILTIN_EXTENSIONS_V1BETA1_REPLICASETS] = GROUP(
        "extensions", "v1beta1", "replicasets", "replicaset", "ReplicaSet", true, SHORT("rs")),
    [KI_BUILTIN_FLOWCONTROL_V1_FLOWSCHEMAS] =
        GROUP("flowcontrol.apiserver.k8s.io", "v1", "flowschemas", "flowschema", "FlowSchema",
              false, NONE()),
    [KI_BUILTIN_FLOWCONTROL_V1_PRIORITYLEVELCONFIGURATIONS] =
        GROUP("flowcontrol.apiserver.k8s.io", "v1", "prioritylevelconfigurations",
              "prioritylevelconfiguration", "PriorityLevelConfiguration", false, NONE()),
    [KI_BUILTIN_FLOWCONTROL_V1BETA3_FLOWSCHEMAS] =
        GROUP("flowcontrol.apiserver.k8s.io", "v1beta3", "flowschemas", "flowschema", "FlowSchema",
              false, NONE()),
    [KI_BUILTIN_FLOWCONTROL_V1BETA3_PRIORITYLEVELCONFIGURATIONS] =
        GROUP("flowcontrol.apiserver.k8s.io", "v1beta3", "prioritylevelconfigurations",
              "prioritylevelconfiguration", "PriorityLevelConfiguration", false, NONE()),
    [KI_BUILTIN_FLOWCONTROL_V1BETA2_FLOWSCHEMAS] =
        GROUP("flowcontrol.apiserver.k8s.io", "v1beta2", "flowschemas", "flowschema", "FlowSchema",
              false, NONE()),
    [KI_BUILTIN_FLOWCONTROL_V1BETA2_PRIORITYLEVELCONFIGURATIONS] =
        GROUP("flowcontrol.apiserver.k8s.io", "v1beta2", "prioritylevelconfigurations",
              "prioritylevelconfiguration", "PriorityLevelConfiguration", false, NONE()),
    [KI_BUILTIN_FLOWCONTROL_V1BETA1_FLOWSCHEMAS] =
        GROUP("flowcontrol.apiserver.k8s.io", "v1beta1", "flowschemas", "flowschema", "FlowSchema",
              false, NONE()),
    [KI_BUILTIN_FLOWCONTROL_V1BETA1_PRIORITYLEVELCONFIGURATIONS] =
        GROUP("flowcontrol.apiserver.k8s.io", "v1beta1", "prioritylevelconfigurations",
              "prioritylevelconfiguration", "PriorityLevelConfiguration", false, NONE()),
    [KI_BUILTIN_INTERNAL_V1ALPHA1_STORAGEVERSIONS] =
        GROUP("internal.apiserver.k8s.io", "v1alpha1", "storageversions", "storageversion",
              "StorageVersion", false, NONE()),
    [KI_BUILTIN_LIFECYCLE_V1ALPHA1_EVICTIONREQUESTS] =
        GROUP("lifecycle.k8s.io", "v1alpha1", "evictionrequests", "evictionrequest",
              "EvictionRequest", true, NONE()),
    [KI_BUILTIN_LIFECYCLE_V1ALPHA1_EVICTIONS] =
        GROUP("lifecycle.k8s.io", "v1alpha1", "evictions", "eviction", "Eviction", true, NONE()),
    [KI_BUILTIN_NETWORKING_V1_INGRESSCLASSES] = GROUP(
        "networking.k8s.io", "v1", "ingressclasses", "ingressclass", "IngressClass", false, NONE()),
    [KI_BUILTIN_NETWORKING_V1_INGRESSES] =
        GROUP("networking.k8s.io", "v1", "ingresses", "ingress", "Ingress", true, SHORT("ing")),
    [KI_BUILTIN_NETWORKING_V1_IPADDRESSES] = GROUP("networking.k8s.io", "v1", "ipaddresses",
                                                   "ipaddress", "IPAddress", false, SHORT("ip")),
    [KI_BUILTIN_NETWORKING_V1_NETWORKPOLICIES] =
        GROUP("networking.k8s.io", "v1", "networkpolicies", "networkpolicy", "NetworkPolicy", true,
              SHORT("netpol")),
    [KI_BUILTIN_NETWORKING_V1_SERVICECIDRS] = GROUP("networking.k8s.io", "v1", "servicecidrs",
                                                    "servicecidr", "ServiceCIDR", false, NONE()),
    [KI_BUILTIN_NETWORKING_V1BETA1_INGRESSCLASSES] =
        GROUP("networking.k8s.io", "v1beta1", "ingressclasses", "ingressclass", "IngressClass",
              false, NONE()),
    [KI_BUILTIN_NETWORKING_V1BETA1_INGRESSES] = GROUP("networking.k8s.io", "v1beta1", "ingresses",
                                                      "ingress", "Ingress", true, SHORT("ing")),
    [KI_BUILTIN_NETWORKING_V1BETA1_IPADDRESSES] =
        GROUP("networking.k8s.io", "v1beta1", "ipaddresses", "ipaddress", "IPAddress", false,
              SHORT("ip")),
    [KI_BUILTIN_NETWORKING_V1BETA1_SERVICECIDRS] =
        GROUP("networking.k8s.io", "v1beta1", "servicecidrs", "servicecidr", "ServiceCIDR", false,
              NONE()),
    [KI_BUILTIN_NODE_V1_RUNTIMECLASSES] =
        GROUP("node.k8s.io", "v1", "runtimeclasses", "runtimeclass", "RuntimeClass", false, NONE()),
    [KI_BUILTIN_NODE_V1BETA1_RUNTIMECLASSES] = GROUP("node.k8s.io", "v1beta1", "runtimeclasses",
                                                     "runtimeclass", "RuntimeClass", false, NONE()),
    [KI_BUILTIN_NODE_V1ALPHA1_RUNTIMECLASSES] = GROUP(
        "node.k8s.io", "v1alpha1", "runtimeclasses", "runtimeclass", "RuntimeClass", false, NONE()),
    [KI_BUILTIN_POLICY_V1_PODDISRUPTIONBUDGETS] =
        GROUP("policy", "v1", "poddisruptionbudgets", "poddisruptionbudget", "PodDisruptionBudget",
              true, SHORT("pdb")),
    [KI_BUILTIN_POLICY_V1BETA1_PODDISRUPTIONBUDGETS] =
        GROUP("policy", "v1beta1", "poddisruptionbudgets", "poddisruptionbudget",
              "PodDisruptionBudget", true, SHORT("pdb")),
    [KI_BUILTIN_RBAC_V1_CLUSTERROLEBINDINGS] =
        GROUP("rbac.authorization.k8s.io", "v1", "clusterrolebindings", "clusterrolebinding",
              "ClusterRoleBinding", false, NONE()),
    [KI_BUILTIN_RBAC_V1_CLUSTERROLES] = GROUP("rbac.authorization.k8s.io", "v1", "clusterroles",
                                              "clusterrole", "ClusterRole", false, NONE()),
    [KI_BUILTIN_RBAC_V1_ROLEBINDINGS] = GROUP("rbac.authorization.k8s.io", "v1", "rolebindings",
                                              "rolebinding", "RoleBinding", true, NONE()),
    [KI_BUILTIN_RBAC_V1_ROLES] =
        GROUP("rbac.authorization.k8s.io", "v1", "roles", "role", "Role", true, NONE()),
    [KI_BUILTIN_RBAC_V1BETA1_CLUSTERROLEBINDINGS] =
        GROUP("rbac.authorization.k8s.io", "v1beta1", "clusterrolebindings", "clusterrolebinding",
              "ClusterRoleBinding", false, NONE()),
    [KI_BUILTIN_RBAC_V1BETA1_CLUSTERROLES] =
        GROUP("rbac.authorization.k8s.io", "v1beta1", "clusterroles", "clusterrole", "ClusterRole",
              false, NONE()),
    [KI_BUILTIN_RBAC_V1BETA1_ROLEBINDINGS] =
        GROUP("rbac.authorization.k8s.io", "v1beta1", "rolebindings", "rolebinding", "RoleBinding",
              true, NONE()),
    [KI_BUILTIN_RBAC_V1BETA1_ROLES] =
        GROUP("rbac.authorization.k8s.io", "v1beta1", "roles", "role", "Role", true, NONE()),
    [KI_BUILTIN_RBAC_V1ALPHA1_CLUSTERROLEBINDINGS] =
        GROUP("rbac.authorization.k8s.io", "v1alpha1", "clusterrolebindings", "clusterrolebinding",
              "ClusterRoleBinding", false, NONE()),
    [KI_BUILTIN_RBAC_V1ALPHA1_CLUSTERROLES] =
        GROUP("rbac.authorization.k8s.io", "v1alpha1", "clusterroles", "clusterrole", "ClusterRole",
              false, NONE()),
    [KI_BUILTIN_RBAC_V1ALPHA1_ROLEBINDINGS] =
        GROUP("rbac.authorization.k8s.io", "v1alpha1", "rolebindings", "rolebinding", "RoleBinding",
              true, NONE()),
    [KI_BUILTIN_RBAC_V1ALPHA1_ROLES] =
        GROUP("rbac.authorization.k8s.io", "v1alpha1", "roles", "role", "Role", true, NONE()),
    [KI_BUILTIN_RESOURCE_V1_DEVICECLASSES] = GROUP("resource.k8s.io", "v1", "deviceclasses",
                                                   "deviceclass", "DeviceClass", false, NONE()),
    [KI_BUILTIN_RESOURCE_V1_DEVICETAINTRULES] =
        GROUP("resource.k8s.io", "v1", "devicetaintrules", "devicetaintrule", "DeviceTaintRule",
              false, NONE()),
    [KI_BUILTIN_RESOURCE_V1_RESOURCECLAIMS] = GROUP("resource.k8s.io", "v1", "resourceclaims",
                                                    "resourceclaim", "ResourceClaim", true, NONE()),
    [KI_BUILTIN_RESOURCE_V1_RESOURCECLAIMTEMPLATES] =
        GROUP("resource.k8s.io", "v1", "resourceclaimtemplates", "resourceclaimtemplate",
              "ResourceClaimTemplate", true, NONE()),
    [KI_BUILTIN_RESOURCE_V1_RESOURCESLICES] = GROUP(
        "resource.k8s.io", "v1", "resourceslices", "resourceslice", "ResourceSlice", false, NONE()),
    [KI_BUILTIN_RESOURCE_V1BETA2_DEVICECLASSES] = GROUP(
        "resource.k8s.io", "v1beta2", "deviceclasses", "deviceclass", "DeviceClass", false, NONE()),
    [KI_BUILTIN_RESOURCE_V1BETA2_DEVICETAINTRULES] =
        GROUP("resource.k8s.io", "v1beta2", "devicetaintrules", "devicetaintrule",
              "DeviceTaintRule", false, NONE()),
    [KI_BUILTIN_RESOURCE_V1BETA2_RESOURCECLAIMS] =
        GROUP("resource.k8s.io", "v1beta2", "resourceclaims", "resourceclaim", "ResourceClaim",
              true, NONE()),
    [KI_BUILTIN_RESOURCE_V1BETA2_RESOURCECLAIMTEMPLATES] =
        GROUP("resource.k8s.io", "v1beta2", "resourceclaimtemplates", "resourceclaimtemplate",
              "ResourceClaimTemplate", true, NONE()),
    [KI_BUILTIN_RESOURCE_V1BETA2_RESOURCESLICES] =
        GROUP("resource.k8s.io", "v1beta2", "resourceslices", "resourceslice", "ResourceSlice",
              false, NONE()),
    [KI_BUILTIN_RESOURCE_V1BETA1_DEVICECLASSES] = GROUP(
        "resource.k8s.io", "v1beta1", "deviceclasses", "deviceclass", "DeviceClass", false, NONE()),
    [KI_BUILTIN_RESOURCE_V1BETA1_RESOURCECLAIMS] =
        GROUP("resource.k8s.io", "v1beta1", "resourceclaims", "resourceclaim", "ResourceClaim",
              true, NONE()),
    [KI_BUILTIN_RESOURCE_V1BETA1_RESOURCECLAIMTEMPLATES] =
        GROUP("resource.k8s.io", "v1beta1", "resourceclaimtemplates", "resourceclaimtemplate",
              "ResourceClaimTemplate", true, NONE()),
    [KI_BUILTIN_RESOURCE_V1BETA1_RESOURCESLICES] =
        GROUP("resource.k8s.io", "v1beta1", "resourceslices", "resourceslice", "ResourceSlice",
              false, NONE()),
    [KI_BUILTIN_RESOURCE_V1ALPHA3_DEVICETAINTRULES] =
        GROUP("resource.k8s.io", "v1alpha3", "devicetaintrules", "devicetaintrule",
              "DeviceTaintRule", false, NONE()),
    [KI_BUILTIN_RESOURCE_V1ALPHA3_RESOURCEPOOLSTATUSREQUESTS] =
        GROUP("resource.k8s.io", "v1alpha3", "resourcepoolstatusrequests",
              "resourcepoolstatusrequest", "ResourcePoolStatusRequest", false, NONE()),
    [KI_BUILTIN_SCHEDULING_V1_PRIORITYCLASSES] =
        GROUP("scheduling.k8s.io", "v1", "priorityclasses", "priorityclass", "PriorityClass", false,
              SHORT("pc")),
    [KI_BUILTIN_SCHEDULING_V1BETA1_PODGROUPS] =
        GROUP("scheduling.k8s.io", "v1beta1", "podgroups", "podgroup", "PodGroup", true, NONE()),
    [KI_BUILTIN_SCHEDULING_V1BETA1_PRIORITYCLASSES] =
        GROUP("scheduling.k8s.io", "v1beta1", "priorityclasses", "priorityclass", "PriorityClass",
              false, SHORT("pc")),
    [KI_BUILTIN_SCHEDULING_V1BETA1_WORKLOADS] =
        GROUP("scheduling.k8s.io", "v1beta1", "workloads", "workload", "Workload", true, NONE()),
    [KI_BUILTIN_SCHEDULING_V1ALPHA3_COMPOSITEPODGROUPS] =
        GROUP("scheduling.k8s.io", "v1alpha3", "compositepodgroups", "compositepodgroup",
              "CompositePodGroup", true, NONE()),
    [KI_BUILTIN_SCHEDULING_V1ALPHA3_PODGROUPS] =
        GROUP("scheduling.k8s.io", "v1alpha3", "podgroups", "podgroup", "PodGroup", true, NONE()),
    [KI_BUILTIN_SCHEDULING_V1ALPHA3_WORKLOADS] =
        GROUP("scheduling.k8s.io", "v1alpha3", "workloads", "workload", "Workload", true, NONE()),
    [KI_BUILTIN_SCHEDULING_V1ALPHA2_PODGROUPS] =
        GROUP("scheduling.k8s.io", "v1alpha2", "podgroups", "podgroup", "PodGroup", true, NONE()),
    [KI_BUILTIN_SCHEDULING_V1ALPHA2_WORKLOADS] =
        GROUP("scheduling.k8s.io", "v1alpha2", "workloads", "workload", "Workload", true, NONE()),
    [KI_BUILTIN_STORAGE_V1_CSIDRIVERS] =
        GROUP("storage.k8s.io", "v1", "csidrivers", "csidriver", "CSIDriver", false, NONE()),
    [KI_BUILTIN_STORAGE_V1_CSINODES] =
        GROUP("storage.k8s.io", "v1", "csinodes", "csinode", "CSINode", false, NONE()),
    [KI_BUILTIN_STORAGE_V1_CSISTORAGECAPACITIES] =
        GROUP("storage.k8s.io", "v1", "csistoragecapacities", "csistoragecapacity",
              "CSIStorageCapacity", true, NONE()),
    [KI_BUILTIN_STORAGE_V1_STORAGECLASSES] =
        GROUP("storage.k8s.io", "v1", "storageclasses", "storageclass", "StorageClass", false,
              SHORT("sc")),
    [KI_BUILTIN_STORAGE_V1_VOLUMEATTACHMENTS] =
        GROUP("storage.k8s.io", "v1", "volumeattachments", "volumeattachment", "VolumeAttachment",
              false, NONE()),
    [KI_BUILTIN_STORAGE_V1_VOLUMEATTRIBUTESCLASSES] =
        GROUP("storage.k8s.io", "v1", "volumeattributesclasses", "volumeattributesclass",
              "VolumeAttributesClass", false, SHORT("vac")),
    [KI_BUILTIN_STORAGE_V1BETA1_CSIDRIVERS] =
        GROUP("storage.k8s.io", "v1beta1", "csidrivers", "csidriver", "CSIDriver", false, NONE()),
    [KI_BUILTIN_STORAGE_V1BETA1_CSINODES] =
        GROUP("storage.k8s.io", "v1beta1", "csinodes", "csinode", "CSINode", false, NONE()),
    [KI_BUILTIN_STORAGE_V1BETA1_CSISTORAGECAPACITIES] =
        GROUP("storage.k8s.io", "v1beta1", "csistoragecapacities", "csistoragecapacity",
              "CSIStorageCapacity", true, NONE()),
    [KI_BUILTIN_STORAGE_V1BETA1_STORAGECLASSES] =
        GROUP("storage.k8s.io", "v1beta1", "storageclasses", "storageclass", "StorageClass", false,
              SHORT("sc")),
    [KI_BUILTIN_STORAGE_V1BETA1_VOLUMEATTACHMENTS] =
        GROUP("storage.k8s.io", "v1beta1", "volumeattachments", "volumeattachment",
              "VolumeAttachment", false, NONE()),
    [KI_BUILTIN_STORAGE_V1BETA1_VOLUMEATTRIBUTESCLASSES] =
        GROUP("storage.k8s.io", "v1beta1", "volumeattributesclasses", "volumeattributesclass",
              "VolumeAttributesClass", false, SHORT("vac")),
    [KI_BUILTIN_STORAGE_V1ALPHA1_CSISTORAGECAPACITIES] =
        GROUP("storage.k8s.io", "v1alpha1", "csistoragecapacities", "csistoragecapacity",
              "CSIStorageCapacity", true, NONE()),
    [KI_BUILTIN_STORAGE_V1ALPHA1_VOLUMEATTACHMENTS] =
        GROUP("storage.k8s.io", "v1alpha1", "volumeattachments", "volumeattachment",
              "VolumeAttachment", false, NONE()),
    [KI_BUILTIN_STORAGE_V1ALPHA1_VOLUMEATTRIBUTESCLASSES] =
        GROUP("storage.k8s.io", "v1alpha1", "volumeattributesclasses", "volumeattributesclass",
              "VolumeAttributesClass", false, SHORT("vac")),
    [KI_BUILTIN_STORAGEMIGRATION_V1_STORAGEVERSIONMIGRATIONS] =
        GROUP("storagemigration.k8s.io", "v1", "storageversionmigrations",
              "storageversionmigration", "StorageVersionMigration", false, NONE()),
    [KI_BUILTIN_STORAGEMIGRATION_V1BETA1_STORAGEVERSIONMIGRATIONS] =
        GROUP("storagemigration.k8s.io", "v1beta1", "storageversionmigrations",
              "storageversionmigration", "StorageVersionMigration", false, NONE()),
};

const uint16_t ki__builtin_by_name[KI_BUILTIN_MAX] = {
    0,   1,   2,   3,   4,   5,   6,   7,   8,   9,   10,  11,  12,  13,  14,  15,  16,  17,  18,
    19,  20,  21,  22,  29,  30,  31,  32,  23,  24,  25,  26,  27,  28,  33,  34,  35,  36,  37,
    38,  39,  40,  41,  47,  48,  49,  42,  43,  44,  45,  46,  50,  51,  54,  52,  53,  55,  56,
    57,  58,  59,  60,  61,  62,  64,  63,  65,  66,  67,  68,  69,  70,  74,  71,  72,  73,  75,
    78,  76,  77,  79,  80,  81,  82,  83,  84,  85,  86,  87,  88,  89,  94,  95,  92,  93,  90,
    91,  96,  97,  98,  99,  100, 101, 102, 103, 104, 105, 106, 107, 108, 110, 109, 111, 112, 113,
    114, 115, 116, 121, 122, 123, 124, 117, 118, 119, 120, 125, 126, 127, 128, 129, 139, 140, 135,
    136, 137, 138, 130, 131, 132, 133, 134, 141, 148, 149, 145, 146, 147, 142, 143, 144, 150, 151,
    152, 153, 154, 155, 162, 163, 164, 156, 157, 158, 159, 160, 161, 165, 166};

const uint16_t ki__builtin_by_kind[KI_BUILTIN_MAX] = {
    17,  18,  19,  20,  21,  22,  29,  30,  31,  32,  23,  24,  25,  26,  27,  28,  33,  34,  35,
    36,  37,  38,  39,  40,  41,  47,  48,  49,  42,  43,  44,  45,  46,  50,  51,  54,  52,  53,
    55,  56,  57,  58,  59,  60,  61,  62,  64,  63,  65,  66,  67,  68,  69,  70,  74,  71,  72,
    73,  75,  78,  77,  76,  79,  80,  81,  82,  83,  84,  85,  86,  87,  88,  89,  94,  95,  92,
    93,  90,  91,  96,  98,  97,  101, 100, 99,  102, 103, 106, 105, 104, 107, 108, 110, 109, 111,
    112, 114, 113, 116, 115, 122, 121, 124, 123, 118, 117, 120, 119, 125, 126, 127, 128, 129, 139,
    140, 135, 136, 137, 138, 130, 131, 132, 133, 134, 141, 148, 149, 145, 146, 147, 142, 143, 144,
    150, 151, 152, 153, 154, 155, 162, 163, 164, 156, 157, 158, 159, 160, 161, 165, 166, 0,   1,
    2,   3,   4,   5,   6,   7,   9,   8,   10,  11,  12,  13,  14,  16,  15};
