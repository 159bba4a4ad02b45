#!/bin/sh
# Rolls out an overlay: `k8s/deploy.sh [production]`. The migration first, and the apps only when it is complete. Ends with 1 as soon as
# something has failed, and shows why.
set -eu
cd "$(dirname "$0")/overlays/${1:-production}"
k() { kubectl --namespace agent-platform "$@"; }
# What is only asked: of a cluster that takes connections and answers nothing, no longer than this.
ask() { k "$@" --request-timeout=20s; }

failed() {
  echo "$1 The apps are as they were." >&2
  ask describe pods -l app.kubernetes.io/name=migrate | sed -n '/^Events:/,$p' >&2 || true
  ask logs -l app.kubernetes.io/name=migrate --prefix --tail=50 >&2 || true
  exit 1
}

k delete job migrate --ignore-not-found
kubectl apply -k migrate

# `kubectl wait` waits for one condition: for a migration that has failed it would do so until its time is up.
stuck=0 unheard=0
while :; do
  # A cluster that does not answer may be back at once. A job that is gone would never say anything.
  if conditions=$(ask get job migrate --ignore-not-found -o jsonpath='{.metadata.name} {.status.conditions[?(@.status=="True")].type}'); then
    unheard=0
    case " $conditions " in
      *' Complete '*) break ;;
      *' Failed '*) failed 'The migration failed.' ;;
      *' migrate '*) ;;
      *) failed 'The migration is gone: somebody has deleted its job.' ;;
    esac
  else
    unheard=$((unheard + 1))
    [ "$unheard" -lt 30 ] || failed 'The cluster does not answer, so nobody knows what has become of the migration.'
    sleep 2
    continue
  fi
  # An image or a secret that is not there: Kubernetes would try for as long as the job may run. It may also be late, so not at once.
  case "$(ask get pods -l app.kubernetes.io/name=migrate -o jsonpath='{.items[*].status.containerStatuses[*].state.waiting.reason}' || true)" in
    *ErrImagePull* | *ImagePullBackOff* | *InvalidImageName* | *CreateContainer*Error*) stuck=$((stuck + 1)) ;;
    *) stuck=0 ;;
  esac
  [ "$stuck" -lt 20 ] || failed 'The migration does not start.'
  sleep 2
done

kubectl apply -k .
k rollout status deployment -l agent-platform/kind=app --timeout=10m
