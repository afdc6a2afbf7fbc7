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

static const ki__resource_facts facts[KI_BUILTIN_MAX] = {
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

const ki_resource ki_core_v1_bindings = {&facts[KI_BUILTIN_CORE_V1_BINDINGS]};
const ki_resource ki_core_v1_componentstatuses = {&facts[KI_BUILTIN_CORE_V1_COMPONENTSTATUSES]};
const ki_resource ki_core_v1_configmaps = {&facts[KI_BUILTIN_CORE_V1_CONFIGMAPS]};
const ki_resource ki_core_v1_endpoints = {&facts[KI_BUILTIN_CORE_V1_ENDPOINTS]};
const ki_resource ki_core_v1_events = {&facts[KI_BUILTIN_CORE_V1_EVENTS]};
const ki_resource ki_core_v1_limitranges = {&facts[KI_BUILTIN_CORE_V1_LIMITRANGES]};
const ki_resource ki_core_v1_namespaces = {&facts[KI_BUILTIN_CORE_V1_NAMESPACES]};
const ki_resource ki_core_v1_nodes = {&facts[KI_BUILTIN_CORE_V1_NODES]};
const ki_resource ki_core_v1_persistentvolumeclaims = {
    &facts[KI_BUILTIN_CORE_V1_PERSISTENTVOLUMECLAIMS]};
const ki_resource ki_core_v1_persistentvolumes = {&facts[KI_BUILTIN_CORE_V1_PERSISTENTVOLUMES]};
const ki_resource ki_core_v1_pods = {&facts[KI_BUILTIN_CORE_V1_PODS]};
const ki_resource ki_core_v1_podtemplates = {&facts[KI_BUILTIN_CORE_V1_PODTEMPLATES]};
const ki_resource ki_core_v1_replicationcontrollers = {
    &facts[KI_BUILTIN_CORE_V1_REPLICATIONCONTROLLERS]};
const ki_resource ki_core_v1_resourcequotas = {&facts[KI_BUILTIN_CORE_V1_RESOURCEQUOTAS]};
const ki_resource ki_core_v1_secrets = {&facts[KI_BUILTIN_CORE_V1_SECRETS]};
const ki_resource ki_core_v1_serviceaccounts = {&facts[KI_BUILTIN_CORE_V1_SERVICEACCOUNTS]};
const ki_resource ki_core_v1_services = {&facts[KI_BUILTIN_CORE_V1_SERVICES]};
const ki_resource ki_admissionregistration_v1_mutatingadmissionpolicies = {
    &facts[KI_BUILTIN_ADMISSIONREGISTRATION_V1_MUTATINGADMISSIONPOLICIES]};
const ki_resource ki_admissionregistration_v1_mutatingadmissionpolicybindings = {
    &facts[KI_BUILTIN_ADMISSIONREGISTRATION_V1_MUTATINGADMISSIONPOLICYBINDINGS]};
const ki_resource ki_admissionregistration_v1_mutatingwebhookconfigurations = {
    &facts[KI_BUILTIN_ADMISSIONREGISTRATION_V1_MUTATINGWEBHOOKCONFIGURATIONS]};
const ki_resource ki_admissionregistration_v1_validatingadmissionpolicies = {
    &facts[KI_BUILTIN_ADMISSIONREGISTRATION_V1_VALIDATINGADMISSIONPOLICIES]};
const ki_resource ki_admissionregistration_v1_validatingadmissionpolicybindings = {
    &facts[KI_BUILTIN_ADMISSIONREGISTRATION_V1_VALIDATINGADMISSIONPOLICYBINDINGS]};
const ki_resource ki_admissionregistration_v1_validatingwebhookconfigurations = {
    &facts[KI_BUILTIN_ADMISSIONREGISTRATION_V1_VALIDATINGWEBHOOKCONFIGURATIONS]};
const ki_resource ki_admissionregistration_v1beta1_mutatingadmissionpolicies = {
    &facts[KI_BUILTIN_ADMISSIONREGISTRATION_V1BETA1_MUTATINGADMISSIONPOLICIES]};
const ki_resource ki_admissionregistration_v1beta1_mutatingadmissionpolicybindings = {
    &facts[KI_BUILTIN_ADMISSIONREGISTRATION_V1BETA1_MUTATINGADMISSIONPOLICYBINDINGS]};
const ki_resource ki_admissionregistration_v1beta1_mutatingwebhookconfigurations = {
    &facts[KI_BUILTIN_ADMISSIONREGISTRATION_V1BETA1_MUTATINGWEBHOOKCONFIGURATIONS]};
const ki_resource ki_admissionregistration_v1beta1_validatingadmissionpolicies = {
    &facts[KI_BUILTIN_ADMISSIONREGISTRATION_V1BETA1_VALIDATINGADMISSIONPOLICIES]};
const ki_resource ki_admissionregistration_v1beta1_validatingadmissionpolicybindings = {
    &facts[KI_BUILTIN_ADMISSIONREGISTRATION_V1BETA1_VALIDATINGADMISSIONPOLICYBINDINGS]};
const ki_resource ki_admissionregistration_v1beta1_validatingwebhookconfigurations = {
    &facts[KI_BUILTIN_ADMISSIONREGISTRATION_V1BETA1_VALIDATINGWEBHOOKCONFIGURATIONS]};
const ki_resource ki_admissionregistration_v1alpha1_mutatingadmissionpolicies = {
    &facts[KI_BUILTIN_ADMISSIONREGISTRATION_V1ALPHA1_MUTATINGADMISSIONPOLICIES]};
const ki_resource ki_admissionregistration_v1alpha1_mutatingadmissionpolicybindings = {
    &facts[KI_BUILTIN_ADMISSIONREGISTRATION_V1ALPHA1_MUTATINGADMISSIONPOLICYBINDINGS]};
const ki_resource ki_admissionregistration_v1alpha1_validatingadmissionpolicies = {
    &facts[KI_BUILTIN_ADMISSIONREGISTRATION_V1ALPHA1_VALIDATINGADMISSIONPOLICIES]};
const ki_resource ki_admissionregistration_v1alpha1_validatingadmissionpolicybindings = {
    &facts[KI_BUILTIN_ADMISSIONREGISTRATION_V1ALPHA1_VALIDATINGADMISSIONPOLICYBINDINGS]};
const ki_resource ki_apiextensions_v1_customresourcedefinitions = {
    &facts[KI_BUILTIN_APIEXTENSIONS_V1_CUSTOMRESOURCEDEFINITIONS]};
const ki_resource ki_apiextensions_v1beta1_customresourcedefinitions = {
    &facts[KI_BUILTIN_APIEXTENSIONS_V1BETA1_CUSTOMRESOURCEDEFINITIONS]};
const ki_resource ki_apiregistration_v1_apiservices = {
    &facts[KI_BUILTIN_APIREGISTRATION_V1_APISERVICES]};
const ki_resource ki_apiregistration_v1beta1_apiservices = {
    &facts[KI_BUILTIN_APIREGISTRATION_V1BETA1_APISERVICES]};
const ki_resource ki_apps_v1_controllerrevisions = {&facts[KI_BUILTIN_APPS_V1_CONTROLLERREVISIONS]};
const ki_resource ki_apps_v1_daemonsets = {&facts[KI_BUILTIN_APPS_V1_DAEMONSETS]};
const ki_resource ki_apps_v1_deployments = {&facts[KI_BUILTIN_APPS_V1_DEPLOYMENTS]};
const ki_resource ki_apps_v1_replicasets = {&facts[KI_BUILTIN_APPS_V1_REPLICASETS]};
const ki_resource ki_apps_v1_statefulsets = {&facts[KI_BUILTIN_APPS_V1_STATEFULSETS]};
const ki_resource ki_apps_v1beta2_controllerrevisions = {
    &facts[KI_BUILTIN_APPS_V1BETA2_CONTROLLERREVISIONS]};
const ki_resource ki_apps_v1beta2_daemonsets = {&facts[KI_BUILTIN_APPS_V1BETA2_DAEMONSETS]};
const ki_resource ki_apps_v1beta2_deployments = {&facts[KI_BUILTIN_APPS_V1BETA2_DEPLOYMENTS]};
const ki_resource ki_apps_v1beta2_replicasets = {&facts[KI_BUILTIN_APPS_V1BETA2_REPLICASETS]};
const ki_resource ki_apps_v1beta2_statefulsets = {&facts[KI_BUILTIN_APPS_V1BETA2_STATEFULSETS]};
const ki_resource ki_apps_v1beta1_controllerrevisions = {
    &facts[KI_BUILTIN_APPS_V1BETA1_CONTROLLERREVISIONS]};
const ki_resource ki_apps_v1beta1_deployments = {&facts[KI_BUILTIN_APPS_V1BETA1_DEPLOYMENTS]};
const ki_resource ki_apps_v1beta1_statefulsets = {&facts[KI_BUILTIN_APPS_V1BETA1_STATEFULSETS]};
const ki_resource ki_authentication_v1_selfsubjectreviews = {
    &facts[KI_BUILTIN_AUTHENTICATION_V1_SELFSUBJECTREVIEWS]};
const ki_resource ki_authentication_v1_tokenreviews = {
    &facts[KI_BUILTIN_AUTHENTICATION_V1_TOKENREVIEWS]};
const ki_resource ki_authentication_v1beta1_selfsubjectreviews = {
    &facts[KI_BUILTIN_AUTHENTICATION_V1BETA1_SELFSUBJECTREVIEWS]};
const ki_resource ki_authentication_v1beta1_tokenreviews = {
    &facts[KI_BUILTIN_AUTHENTICATION_V1BETA1_TOKENREVIEWS]};
const ki_resource ki_authentication_v1alpha1_selfsubjectreviews = {
    &facts[KI_BUILTIN_AUTHENTICATION_V1ALPHA1_SELFSUBJECTREVIEWS]};
const ki_resource ki_authorization_v1_localsubjectaccessreviews = {
    &facts[KI_BUILTIN_AUTHORIZATION_V1_LOCALSUBJECTACCESSREVIEWS]};
const ki_resource ki_authorization_v1_selfsubjectaccessreviews = {
    &facts[KI_BUILTIN_AUTHORIZATION_V1_SELFSUBJECTACCESSREVIEWS]};
const ki_resource ki_authorization_v1_selfsubjectrulesreviews = {
    &facts[KI_BUILTIN_AUTHORIZATION_V1_SELFSUBJECTRULESREVIEWS]};
const ki_resource ki_authorization_v1_subjectaccessreviews = {
    &facts[KI_BUILTIN_AUTHORIZATION_V1_SUBJECTACCESSREVIEWS]};
const ki_resource ki_authorization_v1beta1_localsubjectaccessreviews = {
    &facts[KI_BUILTIN_AUTHORIZATION_V1BETA1_LOCALSUBJECTACCESSREVIEWS]};
const ki_resource ki_authorization_v1beta1_selfsubjectaccessreviews = {
    &facts[KI_BUILTIN_AUTHORIZATION_V1BETA1_SELFSUBJECTACCESSREVIEWS]};
const ki_resource ki_authorization_v1beta1_selfsubjectrulesreviews = {
    &facts[KI_BUILTIN_AUTHORIZATION_V1BETA1_SELFSUBJECTRULESREVIEWS]};
const ki_resource ki_authorization_v1beta1_subjectaccessreviews = {
    &facts[KI_BUILTIN_AUTHORIZATION_V1BETA1_SUBJECTACCESSREVIEWS]};
const ki_resource ki_autoscaling_v2_horizontalpodautoscalers = {
    &facts[KI_BUILTIN_AUTOSCALING_V2_HORIZONTALPODAUTOSCALERS]};
const ki_resource ki_autoscaling_v1_horizontalpodautoscalers = {
    &facts[KI_BUILTIN_AUTOSCALING_V1_HORIZONTALPODAUTOSCALERS]};
const ki_resource ki_batch_v1_cronjobs = {&facts[KI_BUILTIN_BATCH_V1_CRONJOBS]};
const ki_resource ki_batch_v1_jobs = {&facts[KI_BUILTIN_BATCH_V1_JOBS]};
const ki_resource ki_batch_v1beta1_cronjobs = {&facts[KI_BUILTIN_BATCH_V1BETA1_CRONJOBS]};
const ki_resource ki_certificates_v1_certificatesigningrequests = {
    &facts[KI_BUILTIN_CERTIFICATES_V1_CERTIFICATESIGNINGREQUESTS]};
const ki_resource ki_certificates_v1_clustertrustbundles = {
    &facts[KI_BUILTIN_CERTIFICATES_V1_CLUSTERTRUSTBUNDLES]};
const ki_resource ki_certificates_v1_podcertificaterequests = {
    &facts[KI_BUILTIN_CERTIFICATES_V1_PODCERTIFICATEREQUESTS]};
const ki_resource ki_certificates_v1beta1_certificatesigningrequests = {
    &facts[KI_BUILTIN_CERTIFICATES_V1BETA1_CERTIFICATESIGNINGREQUESTS]};
const ki_resource ki_certificates_v1beta1_clustertrustbundles = {
    &facts[KI_BUILTIN_CERTIFICATES_V1BETA1_CLUSTERTRUSTBUNDLES]};
const ki_resource ki_certificates_v1beta1_podcertificaterequests = {
    &facts[KI_BUILTIN_CERTIFICATES_V1BETA1_PODCERTIFICATEREQUESTS]};
const ki_resource ki_certificates_v1alpha1_clustertrustbundles = {
    &facts[KI_BUILTIN_CERTIFICATES_V1ALPHA1_CLUSTERTRUSTBUNDLES]};
const ki_resource ki_coordination_v1_leases = {&facts[KI_BUILTIN_COORDINATION_V1_LEASES]};
const ki_resource ki_coordination_v1beta1_leasecandidates = {
    &facts[KI_BUILTIN_COORDINATION_V1BETA1_LEASECANDIDATES]};
const ki_resource ki_coordination_v1beta1_leases = {&facts[KI_BUILTIN_COORDINATION_V1BETA1_LEASES]};
const ki_resource ki_coordination_v1alpha2_leasecandidates = {
    &facts[KI_BUILTIN_COORDINATION_V1ALPHA2_LEASECANDIDATES]};
const ki_resource ki_discovery_v1_endpointslices = {&facts[KI_BUILTIN_DISCOVERY_V1_ENDPOINTSLICES]};
const ki_resource ki_discovery_v1beta1_endpointslices = {
    &facts[KI_BUILTIN_DISCOVERY_V1BETA1_ENDPOINTSLICES]};
const ki_resource ki_events_v1_events = {&facts[KI_BUILTIN_EVENTS_V1_EVENTS]};
const ki_resource ki_events_v1beta1_events = {&facts[KI_BUILTIN_EVENTS_V1BETA1_EVENTS]};
const ki_resource ki_extensions_v1beta1_daemonsets = {
    &facts[KI_BUILTIN_EXTENSIONS_V1BETA1_DAEMONSETS]};
const ki_resource ki_extensions_v1beta1_deployments = {
    &facts[KI_BUILTIN_EXTENSIONS_V1BETA1_DEPLOYMENTS]};
const ki_resource ki_extensions_v1beta1_ingresses = {
    &facts[KI_BUILTIN_EXTENSIONS_V1BETA1_INGRESSES]};
const ki_resource ki_extensions_v1beta1_networkpolicies = {
    &facts[KI_BUILTIN_EXTENSIONS_V1BETA1_NETWORKPOLICIES]};
const ki_resource ki_extensions_v1beta1_replicasets = {
    &facts[KI_BUILTIN_EXTENSIONS_V1BETA1_REPLICASETS]};
const ki_resource ki_flowcontrol_v1_flowschemas = {&facts[KI_BUILTIN_FLOWCONTROL_V1_FLOWSCHEMAS]};
const ki_resource ki_flowcontrol_v1_prioritylevelconfigurations = {
    &facts[KI_BUILTIN_FLOWCONTROL_V1_PRIORITYLEVELCONFIGURATIONS]};
const ki_resource ki_flowcontrol_v1beta3_flowschemas = {
    &facts[KI_BUILTIN_FLOWCONTROL_V1BETA3_FLOWSCHEMAS]};
const ki_resource ki_flowcontrol_v1beta3_prioritylevelconfigurations = {
    &facts[KI_BUILTIN_FLOWCONTROL_V1BETA3_PRIORITYLEVELCONFIGURATIONS]};
const ki_resource ki_flowcontrol_v1beta2_flowschemas = {
    &facts[KI_BUILTIN_FLOWCONTROL_V1BETA2_FLOWSCHEMAS]};
const ki_resource ki_flowcontrol_v1beta2_prioritylevelconfigurations = {
    &facts[KI_BUILTIN_FLOWCONTROL_V1BETA2_PRIORITYLEVELCONFIGURATIONS]};
const ki_resource ki_flowcontrol_v1beta1_flowschemas = {
    &facts[KI_BUILTIN_FLOWCONTROL_V1BETA1_FLOWSCHEMAS]};
const ki_resource ki_flowcontrol_v1beta1_prioritylevelconfigurations = {
    &facts[KI_BUILTIN_FLOWCONTROL_V1BETA1_PRIORITYLEVELCONFIGURATIONS]};
const ki_resource ki_internal_v1alpha1_storageversions = {
    &facts[KI_BUILTIN_INTERNAL_V1ALPHA1_STORAGEVERSIONS]};
const ki_resource ki_lifecycle_v1alpha1_evictionrequests = {
    &facts[KI_BUILTIN_LIFECYCLE_V1ALPHA1_EVICTIONREQUESTS]};
const ki_resource ki_lifecycle_v1alpha1_evictions = {
    &facts[KI_BUILTIN_LIFECYCLE_V1ALPHA1_EVICTIONS]};
const ki_resource ki_networking_v1_ingressclasses = {
    &facts[KI_BUILTIN_NETWORKING_V1_INGRESSCLASSES]};
const ki_resource ki_networking_v1_ingresses = {&facts[KI_BUILTIN_NETWORKING_V1_INGRESSES]};
const ki_resource ki_networking_v1_ipaddresses = {&facts[KI_BUILTIN_NETWORKING_V1_IPADDRESSES]};
const ki_resource ki_networking_v1_networkpolicies = {
    &facts[KI_BUILTIN_NETWORKING_V1_NETWORKPOLICIES]};
const ki_resource ki_networking_v1_servicecidrs = {&facts[KI_BUILTIN_NETWORKING_V1_SERVICECIDRS]};
const ki_resource ki_networking_v1beta1_ingressclasses = {
    &facts[KI_BUILTIN_NETWORKING_V1BETA1_INGRESSCLASSES]};
const ki_resource ki_networking_v1beta1_ingresses = {
    &facts[KI_BUILTIN_NETWORKING_V1BETA1_INGRESSES]};
const ki_resource ki_networking_v1beta1_ipaddresses = {
    &facts[KI_BUILTIN_NETWORKING_V1BETA1_IPADDRESSES]};
const ki_resource ki_networking_v1beta1_servicecidrs = {
    &facts[KI_BUILTIN_NETWORKING_V1BETA1_SERVICECIDRS]};
const ki_resource ki_node_v1_runtimeclasses = {&facts[KI_BUILTIN_NODE_V1_RUNTIMECLASSES]};
const ki_resource ki_node_v1beta1_runtimeclasses = {&facts[KI_BUILTIN_NODE_V1BETA1_RUNTIMECLASSES]};
const ki_resource ki_node_v1alpha1_runtimeclasses = {
    &facts[KI_BUILTIN_NODE_V1ALPHA1_RUNTIMECLASSES]};
const ki_resource ki_policy_v1_poddisruptionbudgets = {
    &facts[KI_BUILTIN_POLICY_V1_PODDISRUPTIONBUDGETS]};
const ki_resource ki_policy_v1beta1_poddisruptionbudgets = {
    &facts[KI_BUILTIN_POLICY_V1BETA1_PODDISRUPTIONBUDGETS]};
const ki_resource ki_rbac_v1_clusterrolebindings = {&facts[KI_BUILTIN_RBAC_V1_CLUSTERROLEBINDINGS]};
const ki_resource ki_rbac_v1_clusterroles = {&facts[KI_BUILTIN_RBAC_V1_CLUSTERROLES]};
const ki_resource ki_rbac_v1_rolebindings = {&facts[KI_BUILTIN_RBAC_V1_ROLEBINDINGS]};
const ki_resource ki_rbac_v1_roles = {&facts[KI_BUILTIN_RBAC_V1_ROLES]};
const ki_resource ki_rbac_v1beta1_clusterrolebindings = {
    &facts[KI_BUILTIN_RBAC_V1BETA1_CLUSTERROLEBINDINGS]};
const ki_resource ki_rbac_v1beta1_clusterroles = {&facts[KI_BUILTIN_RBAC_V1BETA1_CLUSTERROLES]};
const ki_resource ki_rbac_v1beta1_rolebindings = {&facts[KI_BUILTIN_RBAC_V1BETA1_ROLEBINDINGS]};
const ki_resource ki_rbac_v1beta1_roles = {&facts[KI_BUILTIN_RBAC_V1BETA1_ROLES]};
const ki_resource ki_rbac_v1alpha1_clusterrolebindings = {
    &facts[KI_BUILTIN_RBAC_V1ALPHA1_CLUSTERROLEBINDINGS]};
const ki_resource ki_rbac_v1alpha1_clusterroles = {&facts[KI_BUILTIN_RBAC_V1ALPHA1_CLUSTERROLES]};
const ki_resource ki_rbac_v1alpha1_rolebindings = {&facts[KI_BUILTIN_RBAC_V1ALPHA1_ROLEBINDINGS]};
const ki_resource ki_rbac_v1alpha1_roles = {&facts[KI_BUILTIN_RBAC_V1ALPHA1_ROLES]};
const ki_resource ki_resource_v1_deviceclasses = {&facts[KI_BUILTIN_RESOURCE_V1_DEVICECLASSES]};
const ki_resource ki_resource_v1_devicetaintrules = {
    &facts[KI_BUILTIN_RESOURCE_V1_DEVICETAINTRULES]};
const ki_resource ki_resource_v1_resourceclaims = {&facts[KI_BUILTIN_RESOURCE_V1_RESOURCECLAIMS]};
const ki_resource ki_resource_v1_resourceclaimtemplates = {
    &facts[KI_BUILTIN_RESOURCE_V1_RESOURCECLAIMTEMPLATES]};
const ki_resource ki_resource_v1_resourceslices = {&facts[KI_BUILTIN_RESOURCE_V1_RESOURCESLICES]};
const ki_resource ki_resource_v1beta2_deviceclasses = {
    &facts[KI_BUILTIN_RESOURCE_V1BETA2_DEVICECLASSES]};
const ki_resource ki_resource_v1beta2_devicetaintrules = {
    &facts[KI_BUILTIN_RESOURCE_V1BETA2_DEVICETAINTRULES]};
const ki_resource ki_resource_v1beta2_resourceclaims = {
    &facts[KI_BUILTIN_RESOURCE_V1BETA2_RESOURCECLAIMS]};
const ki_resource ki_resource_v1beta2_resourceclaimtemplates = {
    &facts[KI_BUILTIN_RESOURCE_V1BETA2_RESOURCECLAIMTEMPLATES]};
const ki_resource ki_resource_v1beta2_resourceslices = {
    &facts[KI_BUILTIN_RESOURCE_V1BETA2_RESOURCESLICES]};
const ki_resource ki_resource_v1beta1_deviceclasses = {
    &facts[KI_BUILTIN_RESOURCE_V1BETA1_DEVICECLASSES]};
const ki_resource ki_resource_v1beta1_resourceclaims = {
    &facts[KI_BUILTIN_RESOURCE_V1BETA1_RESOURCECLAIMS]};
const ki_resource ki_resource_v1beta1_resourceclaimtemplates = {
    &facts[KI_BUILTIN_RESOURCE_V1BETA1_RESOURCECLAIMTEMPLATES]};
const ki_resource ki_resource_v1beta1_resourceslices = {
    &facts[KI_BUILTIN_RESOURCE_V1BETA1_RESOURCESLICES]};
const ki_resource ki_resource_v1alpha3_devicetaintrules = {
    &facts[KI_BUILTIN_RESOURCE_V1ALPHA3_DEVICETAINTRULES]};
const ki_resource ki_resource_v1alpha3_resourcepoolstatusrequests = {
    &facts[KI_BUILTIN_RESOURCE_V1ALPHA3_RESOURCEPOOLSTATUSREQUESTS]};
const ki_resource ki_scheduling_v1_priorityclasses = {
    &facts[KI_BUILTIN_SCHEDULING_V1_PRIORITYCLASSES]};
const ki_resource ki_scheduling_v1beta1_podgroups = {
    &facts[KI_BUILTIN_SCHEDULING_V1BETA1_PODGROUPS]};
const ki_resource ki_scheduling_v1beta1_priorityclasses = {
    &facts[KI_BUILTIN_SCHEDULING_V1BETA1_PRIORITYCLASSES]};
const ki_resource ki_scheduling_v1beta1_workloads = {
    &facts[KI_BUILTIN_SCHEDULING_V1BETA1_WORKLOADS]};
const ki_resource ki_scheduling_v1alpha3_compositepodgroups = {
    &facts[KI_BUILTIN_SCHEDULING_V1ALPHA3_COMPOSITEPODGROUPS]};
const ki_resource ki_scheduling_v1alpha3_podgroups = {
    &facts[KI_BUILTIN_SCHEDULING_V1ALPHA3_PODGROUPS]};
const ki_resource ki_scheduling_v1alpha3_workloads = {
    &facts[KI_BUILTIN_SCHEDULING_V1ALPHA3_WORKLOADS]};
const ki_resource ki_scheduling_v1alpha2_podgroups = {
    &facts[KI_BUILTIN_SCHEDULING_V1ALPHA2_PODGROUPS]};
const ki_resource ki_scheduling_v1alpha2_workloads = {
    &facts[KI_BUILTIN_SCHEDULING_V1ALPHA2_WORKLOADS]};
const ki_resource ki_storage_v1_csidrivers = {&facts[KI_BUILTIN_STORAGE_V1_CSIDRIVERS]};
const ki_resource ki_storage_v1_csinodes = {&facts[KI_BUILTIN_STORAGE_V1_CSINODES]};
const ki_resource ki_storage_v1_csistoragecapacities = {
    &facts[KI_BUILTIN_STORAGE_V1_CSISTORAGECAPACITIES]};
const ki_resource ki_storage_v1_storageclasses = {&facts[KI_BUILTIN_STORAGE_V1_STORAGECLASSES]};
const ki_resource ki_storage_v1_volumeattachments = {
    &facts[KI_BUILTIN_STORAGE_V1_VOLUMEATTACHMENTS]};
const ki_resource ki_storage_v1_volumeattributesclasses = {
    &facts[KI_BUILTIN_STORAGE_V1_VOLUMEATTRIBUTESCLASSES]};
const ki_resource ki_storage_v1beta1_csidrivers = {&facts[KI_BUILTIN_STORAGE_V1BETA1_CSIDRIVERS]};
const ki_resource ki_storage_v1beta1_csinodes = {&facts[KI_BUILTIN_STORAGE_V1BETA1_CSINODES]};
const ki_resource ki_storage_v1beta1_csistoragecapacities = {
    &facts[KI_BUILTIN_STORAGE_V1BETA1_CSISTORAGECAPACITIES]};
const ki_resource ki_storage_v1beta1_storageclasses = {
    &facts[KI_BUILTIN_STORAGE_V1BETA1_STORAGECLASSES]};
const ki_resource ki_storage_v1beta1_volumeattachments = {
    &facts[KI_BUILTIN_STORAGE_V1BETA1_VOLUMEATTACHMENTS]};
const ki_resource ki_storage_v1beta1_volumeattributesclasses = {
    &facts[KI_BUILTIN_STORAGE_V1BETA1_VOLUMEATTRIBUTESCLASSES]};
const ki_resource ki_storage_v1alpha1_csistoragecapacities = {
    &facts[KI_BUILTIN_STORAGE_V1ALPHA1_CSISTORAGECAPACITIES]};
const ki_resource ki_storage_v1alpha1_volumeattachments = {
    &facts[KI_BUILTIN_STORAGE_V1ALPHA1_VOLUMEATTACHMENTS]};
const ki_resource ki_storage_v1alpha1_volumeattributesclasses = {
    &facts[KI_BUILTIN_STORAGE_V1ALPHA1_VOLUMEATTRIBUTESCLASSES]};
const ki_resource ki_storagemigration_v1_storageversionmigrations = {
    &facts[KI_BUILTIN_STORAGEMIGRATION_V1_STORAGEVERSIONMIGRATIONS]};
const ki_resource ki_storagemigration_v1beta1_storageversionmigrations = {
    &facts[KI_BUILTIN_STORAGEMIGRATION_V1BETA1_STORAGEVERSIONMIGRATIONS]};

const ki_resource *const ki__builtin_resources[KI_BUILTIN_MAX] = {
    [KI_BUILTIN_CORE_V1_BINDINGS] = &ki_core_v1_bindings,
    [KI_BUILTIN_CORE_V1_COMPONENTSTATUSES] = &ki_core_v1_componentstatuses,
    [KI_BUILTIN_CORE_V1_CONFIGMAPS] = &ki_core_v1_configmaps,
    [KI_BUILTIN_CORE_V1_ENDPOINTS] = &ki_core_v1_endpoints,
    [KI_BUILTIN_CORE_V1_EVENTS] = &ki_core_v1_events,
    [KI_BUILTIN_CORE_V1_LIMITRANGES] = &ki_core_v1_limitranges,
    [KI_BUILTIN_CORE_V1_NAMESPACES] = &ki_core_v1_namespaces,
    [KI_BUILTIN_CORE_V1_NODES] = &ki_core_v1_nodes,
    [KI_BUILTIN_CORE_V1_PERSISTENTVOLUMECLAIMS] = &ki_core_v1_persistentvolumeclaims,
    [KI_BUILTIN_CORE_V1_PERSISTENTVOLUMES] = &ki_core_v1_persistentvolumes,
    [KI_BUILTIN_CORE_V1_PODS] = &ki_core_v1_pods,
    [KI_BUILTIN_CORE_V1_PODTEMPLATES] = &ki_core_v1_podtemplates,
    [KI_BUILTIN_CORE_V1_REPLICATIONCONTROLLERS] = &ki_core_v1_replicationcontrollers,
    [KI_BUILTIN_CORE_V1_RESOURCEQUOTAS] = &ki_core_v1_resourcequotas,
    [KI_BUILTIN_CORE_V1_SECRETS] = &ki_core_v1_secrets,
    [KI_BUILTIN_CORE_V1_SERVICEACCOUNTS] = &ki_core_v1_serviceaccounts,
    [KI_BUILTIN_CORE_V1_SERVICES] = &ki_core_v1_services,
    [KI_BUILTIN_ADMISSIONREGISTRATION_V1_MUTATINGADMISSIONPOLICIES] =
        &ki_admissionregistration_v1_mutatingadmissionpolicies,
    [KI_BUILTIN_ADMISSIONREGISTRATION_V1_MUTATINGADMISSIONPOLICYBINDINGS] =
        &ki_admissionregistration_v1_mutatingadmissionpolicybindings,
    [KI_BUILTIN_ADMISSIONREGISTRATION_V1_MUTATINGWEBHOOKCONFIGURATIONS] =
        &ki_admissionregistration_v1_mutatingwebhookconfigurations,
    [KI_BUILTIN_ADMISSIONREGISTRATION_V1_VALIDATINGADMISSIONPOLICIES] =
        &ki_admissionregistration_v1_validatingadmissionpolicies,
    [KI_BUILTIN_ADMISSIONREGISTRATION_V1_VALIDATINGADMISSIONPOLICYBINDINGS] =
        &ki_admissionregistration_v1_validatingadmissionpolicybindings,
    [KI_BUILTIN_ADMISSIONREGISTRATION_V1_VALIDATINGWEBHOOKCONFIGURATIONS] =
        &ki_admissionregistration_v1_validatingwebhookconfigurations,
    [KI_BUILTIN_ADMISSIONREGISTRATION_V1BETA1_MUTATINGADMISSIONPOLICIES] =
        &ki_admissionregistration_v1beta1_mutatingadmissionpolicies,
    [KI_BUILTIN_ADMISSIONREGISTRATION_V1BETA1_MUTATINGADMISSIONPOLICYBINDINGS] =
        &ki_admissionregistration_v1beta1_mutatingadmissionpolicybindings,
    [KI_BUILTIN_ADMISSIONREGISTRATION_V1BETA1_MUTATINGWEBHOOKCONFIGURATIONS] =
        &ki_admissionregistration_v1beta1_mutatingwebhookconfigurations,
    [KI_BUILTIN_ADMISSIONREGISTRATION_V1BETA1_VALIDATINGADMISSIONPOLICIES] =
        &ki_admissionregistration_v1beta1_validatingadmissionpolicies,
    [KI_BUILTIN_ADMISSIONREGISTRATION_V1BETA1_VALIDATINGADMISSIONPOLICYBINDINGS] =
        &ki_admissionregistration_v1beta1_validatingadmissionpolicybindings,
    [KI_BUILTIN_ADMISSIONREGISTRATION_V1BETA1_VALIDATINGWEBHOOKCONFIGURATIONS] =
        &ki_admissionregistration_v1beta1_validatingwebhookconfigurations,
    [KI_BUILTIN_ADMISSIONREGISTRATION_V1ALPHA1_MUTATINGADMISSIONPOLICIES] =
        &ki_admissionregistration_v1alpha1_mutatingadmissionpolicies,
    [KI_BUILTIN_ADMISSIONREGISTRATION_V1ALPHA1_MUTATINGADMISSIONPOLICYBINDINGS] =
        &ki_admissionregistration_v1alpha1_mutatingadmissionpolicybindings,
    [KI_BUILTIN_ADMISSIONREGISTRATION_V1ALPHA1_VALIDATINGADMISSIONPOLICIES] =
        &ki_admissionregistration_v1alpha1_validatingadmissionpolicies,
    [KI_BUILTIN_ADMISSIONREGISTRATION_V1ALPHA1_VALIDATINGADMISSIONPOLICYBINDINGS] =
        &ki_admissionregistration_v1alpha1_validatingadmissionpolicybindings,
    [KI_BUILTIN_APIEXTENSIONS_V1_CUSTOMRESOURCEDEFINITIONS] =
        &ki_apiextensions_v1_customresourcedefinitions,
    [KI_BUILTIN_APIEXTENSIONS_V1BETA1_CUSTOMRESOURCEDEFINITIONS] =
        &ki_apiextensions_v1beta1_customresourcedefinitions,
    [KI_BUILTIN_APIREGISTRATION_V1_APISERVICES] = &ki_apiregistration_v1_apiservices,
    [KI_BUILTIN_APIREGISTRATION_V1BETA1_APISERVICES] = &ki_apiregistration_v1beta1_apiservices,
    [KI_BUILTIN_APPS_V1_CONTROLLERREVISIONS] = &ki_apps_v1_controllerrevisions,
    [KI_BUILTIN_APPS_V1_DAEMONSETS] = &ki_apps_v1_daemonsets,
    [KI_BUILTIN_APPS_V1_DEPLOYMENTS] = &ki_apps_v1_deployments,
    [KI_BUILTIN_APPS_V1_REPLICASETS] = &ki_apps_v1_replicasets,
    [KI_BUILTIN_APPS_V1_STATEFULSETS] = &ki_apps_v1_statefulsets,
    [KI_BUILTIN_APPS_V1BETA2_CONTROLLERREVISIONS] = &ki_apps_v1beta2_controllerrevisions,
    [KI_BUILTIN_APPS_V1BETA2_DAEMONSETS] = &ki_apps_v1beta2_daemonsets,
    [KI_BUILTIN_APPS_V1BETA2_DEPLOYMENTS] = &ki_apps_v1beta2_deployments,
    [KI_BUILTIN_APPS_V1BETA2_REPLICASETS] = &ki_apps_v1beta2_replicasets,
    [KI_BUILTIN_APPS_V1BETA2_STATEFULSETS] = &ki_apps_v1beta2_statefulsets,
    [KI_BUILTIN_APPS_V1BETA1_CONTROLLERREVISIONS] = &ki_apps_v1beta1_controllerrevisions,
    [KI_BUILTIN_APPS_V1BETA1_DEPLOYMENTS] = &ki_apps_v1beta1_deployments,
    [KI_BUILTIN_APPS_V1BETA1_STATEFULSETS] = &ki_apps_v1beta1_statefulsets,
    [KI_BUILTIN_AUTHENTICATION_V1_SELFSUBJECTREVIEWS] = &ki_authentication_v1_selfsubjectreviews,
    [KI_BUILTIN_AUTHENTICATION_V1_TOKENREVIEWS] = &ki_authentication_v1_tokenreviews,
    [KI_BUILTIN_AUTHENTICATION_V1BETA1_SELFSUBJECTREVIEWS] =
        &ki_authentication_v1beta1_selfsubjectreviews,
    [KI_BUILTIN_AUTHENTICATION_V1BETA1_TOKENREVIEWS] = &ki_authentication_v1beta1_tokenreviews,
    [KI_BUILTIN_AUTHENTICATION_V1ALPHA1_SELFSUBJECTREVIEWS] =
        &ki_authentication_v1alpha1_selfsubjectreviews,
    [KI_BUILTIN_AUTHORIZATION_V1_LOCALSUBJECTACCESSREVIEWS] =
        &ki_authorization_v1_localsubjectaccessreviews,
    [KI_BUILTIN_AUTHORIZATION_V1_SELFSUBJECTACCESSREVIEWS] =
        &ki_authorization_v1_selfsubjectaccessreviews,
    [KI_BUILTIN_AUTHORIZATION_V1_SELFSUBJECTRULESREVIEWS] =
        &ki_authorization_v1_selfsubjectrulesreviews,
    [KI_BUILTIN_AUTHORIZATION_V1_SUBJECTACCESSREVIEWS] = &ki_authorization_v1_subjectaccessreviews,
    [KI_BUILTIN_AUTHORIZATION_V1BETA1_LOCALSUBJECTACCESSREVIEWS] =
        &ki_authorization_v1beta1_localsubjectaccessreviews,
    [KI_BUILTIN_AUTHORIZATION_V1BETA1_SELFSUBJECTACCESSREVIEWS] =
        &ki_authorization_v1beta1_selfsubjectaccessreviews,
    [KI_BUILTIN_AUTHORIZATION_V1BETA1_SELFSUBJECTRULESREVIEWS] =
        &ki_authorization_v1beta1_selfsubjectrulesreviews,
    [KI_BUILTIN_AUTHORIZATION_V1BETA1_SUBJECTACCESSREVIEWS] =
        &ki_authorization_v1beta1_subjectaccessreviews,
    [KI_BUILTIN_AUTOSCALING_V2_HORIZONTALPODAUTOSCALERS] =
        &ki_autoscaling_v2_horizontalpodautoscalers,
    [KI_BUILTIN_AUTOSCALING_V1_HORIZONTALPODAUTOSCALERS] =
        &ki_autoscaling_v1_horizontalpodautoscalers,
    [KI_BUILTIN_BATCH_V1_CRONJOBS] = &ki_batch_v1_cronjobs,
    [KI_BUILTIN_BATCH_V1_JOBS] = &ki_batch_v1_jobs,
    [KI_BUILTIN_BATCH_V1BETA1_CRONJOBS] = &ki_batch_v1beta1_cronjobs,
    [KI_BUILTIN_CERTIFICATES_V1_CERTIFICATESIGNINGREQUESTS] =
        &ki_certificates_v1_certificatesigningrequests,
    [KI_BUILTIN_CERTIFICATES_V1_CLUSTERTRUSTBUNDLES] = &ki_certificates_v1_clustertrustbundles,
    [KI_BUILTIN_CERTIFICATES_V1_PODCERTIFICATEREQUESTS] =
        &ki_certificates_v1_podcertificaterequests,
    [KI_BUILTIN_CERTIFICATES_V1BETA1_CERTIFICATESIGNINGREQUESTS] =
        &ki_certificates_v1beta1_certificatesigningrequests,
    [KI_BUILTIN_CERTIFICATES_V1BETA1_CLUSTERTRUSTBUNDLES] =
        &ki_certificates_v1beta1_clustertrustbundles,
    [KI_BUILTIN_CERTIFICATES_V1BETA1_PODCERTIFICATEREQUESTS] =
        &ki_certificates_v1beta1_podcertificaterequests,
    [KI_BUILTIN_CERTIFICATES_V1ALPHA1_CLUSTERTRUSTBUNDLES] =
        &ki_certificates_v1alpha1_clustertrustbundles,
    [KI_BUILTIN_COORDINATION_V1_LEASES] = &ki_coordination_v1_leases,
    [KI_BUILTIN_COORDINATION_V1BETA1_LEASECANDIDATES] = &ki_coordination_v1beta1_leasecandidates,
    [KI_BUILTIN_COORDINATION_V1BETA1_LEASES] = &ki_coordination_v1beta1_leases,
    [KI_BUILTIN_COORDINATION_V1ALPHA2_LEASECANDIDATES] = &ki_coordination_v1alpha2_leasecandidates,
    [KI_BUILTIN_DISCOVERY_V1_ENDPOINTSLICES] = &ki_discovery_v1_endpointslices,
    [KI_BUILTIN_DISCOVERY_V1BETA1_ENDPOINTSLICES] = &ki_discovery_v1beta1_endpointslices,
    [KI_BUILTIN_EVENTS_V1_EVENTS] = &ki_events_v1_events,
    [KI_BUILTIN_EVENTS_V1BETA1_EVENTS] = &ki_events_v1beta1_events,
    [KI_BUILTIN_EXTENSIONS_V1BETA1_DAEMONSETS] = &ki_extensions_v1beta1_daemonsets,
    [KI_BUILTIN_EXTENSIONS_V1BETA1_DEPLOYMENTS] = &ki_extensions_v1beta1_deployments,
    [KI_BUILTIN_EXTENSIONS_V1BETA1_INGRESSES] = &ki_extensions_v1beta1_ingresses,
    [KI_BUILTIN_EXTENSIONS_V1BETA1_NETWORKPOLICIES] = &ki_extensions_v1beta1_networkpolicies,
    [KI_BUILTIN_EXTENSIONS_V1BETA1_REPLICASETS] = &ki_extensions_v1beta1_replicasets,
    [KI_BUILTIN_FLOWCONTROL_V1_FLOWSCHEMAS] = &ki_flowcontrol_v1_flowschemas,
    [KI_BUILTIN_FLOWCONTROL_V1_PRIORITYLEVELCONFIGURATIONS] =
        &ki_flowcontrol_v1_prioritylevelconfigurations,
    [KI_BUILTIN_FLOWCONTROL_V1BETA3_FLOWSCHEMAS] = &ki_flowcontrol_v1beta3_flowschemas,
    [KI_BUILTIN_FLOWCONTROL_V1BETA3_PRIORITYLEVELCONFIGURATIONS] =
        &ki_flowcontrol_v1beta3_prioritylevelconfigurations,
    [KI_BUILTIN_FLOWCONTROL_V1BETA2_FLOWSCHEMAS] = &ki_flowcontrol_v1beta2_flowschemas,
    [KI_BUILTIN_FLOWCONTROL_V1BETA2_PRIORITYLEVELCONFIGURATIONS] =
        &ki_flowcontrol_v1beta2_prioritylevelconfigurations,
    [KI_BUILTIN_FLOWCONTROL_V1BETA1_FLOWSCHEMAS] = &ki_flowcontrol_v1beta1_flowschemas,
    [KI_BUILTIN_FLOWCONTROL_V1BETA1_PRIORITYLEVELCONFIGURATIONS] =
        &ki_flowcontrol_v1beta1_prioritylevelconfigurations,
    [KI_BUILTIN_INTERNAL_V1ALPHA1_STORAGEVERSIONS] = &ki_internal_v1alpha1_storageversions,
    [KI_BUILTIN_LIFECYCLE_V1ALPHA1_EVICTIONREQUESTS] = &ki_lifecycle_v1alpha1_evictionrequests,
    [KI_BUILTIN_LIFECYCLE_V1ALPHA1_EVICTIONS] = &ki_lifecycle_v1alpha1_evictions,
    [KI_BUILTIN_NETWORKING_V1_INGRESSCLASSES] = &ki_networking_v1_ingressclasses,
    [KI_BUILTIN_NETWORKING_V1_INGRESSES] = &ki_networking_v1_ingresses,
    [KI_BUILTIN_NETWORKING_V1_IPADDRESSES] = &ki_networking_v1_ipaddresses,
    [KI_BUILTIN_NETWORKING_V1_NETWORKPOLICIES] = &ki_networking_v1_networkpolicies,
    [KI_BUILTIN_NETWORKING_V1_SERVICECIDRS] = &ki_networking_v1_servicecidrs,
    [KI_BUILTIN_NETWORKING_V1BETA1_INGRESSCLASSES] = &ki_networking_v1beta1_ingressclasses,
    [KI_BUILTIN_NETWORKING_V1BETA1_INGRESSES] = &ki_networking_v1beta1_ingresses,
    [KI_BUILTIN_NETWORKING_V1BETA1_IPADDRESSES] = &ki_networking_v1beta1_ipaddresses,
    [KI_BUILTIN_NETWORKING_V1BETA1_SERVICECIDRS] = &ki_networking_v1beta1_servicecidrs,
    [KI_BUILTIN_NODE_V1_RUNTIMECLASSES] = &ki_node_v1_runtimeclasses,
    [KI_BUILTIN_NODE_V1BETA1_RUNTIMECLASSES] = &ki_node_v1beta1_runtimeclasses,
    [KI_BUILTIN_NODE_V1ALPHA1_RUNTIMECLASSES] = &ki_node_v1alpha1_runtimeclasses,
    [KI_BUILTIN_POLICY_V1_PODDISRUPTIONBUDGETS] = &ki_policy_v1_poddisruptionbudgets,
    [KI_BUILTIN_POLICY_V1BETA1_PODDISRUPTIONBUDGETS] = &ki_policy_v1beta1_poddisruptionbudgets,
    [KI_BUILTIN_RBAC_V1_CLUSTERROLEBINDINGS] = &ki_rbac_v1_clusterrolebindings,
    [KI_BUILTIN_RBAC_V1_CLUSTERROLES] = &ki_rbac_v1_clusterroles,
    [KI_BUILTIN_RBAC_V1_ROLEBINDINGS] = &ki_rbac_v1_rolebindings,
    [KI_BUILTIN_RBAC_V1_ROLES] = &ki_rbac_v1_roles,
    [KI_BUILTIN_RBAC_V1BETA1_CLUSTERROLEBINDINGS] = &ki_rbac_v1beta1_clusterrolebindings,
    [KI_BUILTIN_RBAC_V1BETA1_CLUSTERROLES] = &ki_rbac_v1beta1_clusterroles,
    [KI_BUILTIN_RBAC_V1BETA1_ROLEBINDINGS] = &ki_rbac_v1beta1_rolebindings,
    [KI_BUILTIN_RBAC_V1BETA1_ROLES] = &ki_rbac_v1beta1_roles,
    [KI_BUILTIN_RBAC_V1ALPHA1_CLUSTERROLEBINDINGS] = &ki_rbac_v1alpha1_clusterrolebindings,
    [KI_BUILTIN_RBAC_V1ALPHA1_CLUSTERROLES] = &ki_rbac_v1alpha1_clusterroles,
    [KI_BUILTIN_RBAC_V1ALPHA1_ROLEBINDINGS] = &ki_rbac_v1alpha1_rolebindings,
    [KI_BUILTIN_RBAC_V1ALPHA1_ROLES] = &ki_rbac_v1alpha1_roles,
    [KI_BUILTIN_RESOURCE_V1_DEVICECLASSES] = &ki_resource_v1_deviceclasses,
    [KI_BUILTIN_RESOURCE_V1_DEVICETAINTRULES] = &ki_resource_v1_devicetaintrules,
    [KI_BUILTIN_RESOURCE_V1_RESOURCECLAIMS] = &ki_resource_v1_resourceclaims,
    [KI_BUILTIN_RESOURCE_V1_RESOURCECLAIMTEMPLATES] = &ki_resource_v1_resourceclaimtemplates,
    [KI_BUILTIN_RESOURCE_V1_RESOURCESLICES] = &ki_resource_v1_resourceslices,
    [KI_BUILTIN_RESOURCE_V1BETA2_DEVICECLASSES] = &ki_resource_v1beta2_deviceclasses,
    [KI_BUILTIN_RESOURCE_V1BETA2_DEVICETAINTRULES] = &ki_resource_v1beta2_devicetaintrules,
    [KI_BUILTIN_RESOURCE_V1BETA2_RESOURCECLAIMS] = &ki_resource_v1beta2_resourceclaims,
    [KI_BUILTIN_RESOURCE_V1BETA2_RESOURCECLAIMTEMPLATES] =
        &ki_resource_v1beta2_resourceclaimtemplates,
    [KI_BUILTIN_RESOURCE_V1BETA2_RESOURCESLICES] = &ki_resource_v1beta2_resourceslices,
    [KI_BUILTIN_RESOURCE_V1BETA1_DEVICECLASSES] = &ki_resource_v1beta1_deviceclasses,
    [KI_BUILTIN_RESOURCE_V1BETA1_RESOURCECLAIMS] = &ki_resource_v1beta1_resourceclaims,
    [KI_BUILTIN_RESOURCE_V1BETA1_RESOURCECLAIMTEMPLATES] =
        &ki_resource_v1beta1_resourceclaimtemplates,
    [KI_BUILTIN_RESOURCE_V1BETA1_RESOURCESLICES] = &ki_resource_v1beta1_resourceslices,
    [KI_BUILTIN_RESOURCE_V1ALPHA3_DEVICETAINTRULES] = &ki_resource_v1alpha3_devicetaintrules,
    [KI_BUILTIN_RESOURCE_V1ALPHA3_RESOURCEPOOLSTATUSREQUESTS] =
        &ki_resource_v1alpha3_resourcepoolstatusrequests,
    [KI_BUILTIN_SCHEDULING_V1_PRIORITYCLASSES] = &ki_scheduling_v1_priorityclasses,
    [KI_BUILTIN_SCHEDULING_V1BETA1_PODGROUPS] = &ki_scheduling_v1beta1_podgroups,
    [KI_BUILTIN_SCHEDULING_V1BETA1_PRIORITYCLASSES] = &ki_scheduling_v1beta1_priorityclasses,
    [KI_BUILTIN_SCHEDULING_V1BETA1_WORKLOADS] = &ki_scheduling_v1beta1_workloads,
    [KI_BUILTIN_SCHEDULING_V1ALPHA3_COMPOSITEPODGROUPS] =
        &ki_scheduling_v1alpha3_compositepodgroups,
    [KI_BUILTIN_SCHEDULING_V1ALPHA3_PODGROUPS] = &ki_scheduling_v1alpha3_podgroups,
    [KI_BUILTIN_SCHEDULING_V1ALPHA3_WORKLOADS] = &ki_scheduling_v1alpha3_workloads,
    [KI_BUILTIN_SCHEDULING_V1ALPHA2_PODGROUPS] = &ki_scheduling_v1alpha2_podgroups,
    [KI_BUILTIN_SCHEDULING_V1ALPHA2_WORKLOADS] = &ki_scheduling_v1alpha2_workloads,
    [KI_BUILTIN_STORAGE_V1_CSIDRIVERS] = &ki_storage_v1_csidrivers,
    [KI_BUILTIN_STORAGE_V1_CSINODES] = &ki_storage_v1_csinodes,
    [KI_BUILTIN_STORAGE_V1_CSISTORAGECAPACITIES] = &ki_storage_v1_csistoragecapacities,
    [KI_BUILTIN_STORAGE_V1_STORAGECLASSES] = &ki_storage_v1_storageclasses,
    [KI_BUILTIN_STORAGE_V1_VOLUMEATTACHMENTS] = &ki_storage_v1_volumeattachments,
    [KI_BUILTIN_STORAGE_V1_VOLUMEATTRIBUTESCLASSES] = &ki_storage_v1_volumeattributesclasses,
    [KI_BUILTIN_STORAGE_V1BETA1_CSIDRIVERS] = &ki_storage_v1beta1_csidrivers,
    [KI_BUILTIN_STORAGE_V1BETA1_CSINODES] = &ki_storage_v1beta1_csinodes,
    [KI_BUILTIN_STORAGE_V1BETA1_CSISTORAGECAPACITIES] = &ki_storage_v1beta1_csistoragecapacities,
    [KI_BUILTIN_STORAGE_V1BETA1_STORAGECLASSES] = &ki_storage_v1beta1_storageclasses,
    [KI_BUILTIN_STORAGE_V1BETA1_VOLUMEATTACHMENTS] = &ki_storage_v1beta1_volumeattachments,
    [KI_BUILTIN_STORAGE_V1BETA1_VOLUMEATTRIBUTESCLASSES] =
        &ki_storage_v1beta1_volumeattributesclasses,
    [KI_BUILTIN_STORAGE_V1ALPHA1_CSISTORAGECAPACITIES] = &ki_storage_v1alpha1_csistoragecapacities,
    [KI_BUILTIN_STORAGE_V1ALPHA1_VOLUMEATTACHMENTS] = &ki_storage_v1alpha1_volumeattachments,
    [KI_BUILTIN_STORAGE_V1ALPHA1_VOLUMEATTRIBUTESCLASSES] =
        &ki_storage_v1alpha1_volumeattributesclasses,
    [KI_BUILTIN_STORAGEMIGRATION_V1_STORAGEVERSIONMIGRATIONS] =
        &ki_storagemigration_v1_storageversionmigrations,
    [KI_BUILTIN_STORAGEMIGRATION_V1BETA1_STORAGEVERSIONMIGRATIONS] =
        &ki_storagemigration_v1beta1_storageversionmigrations,
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
