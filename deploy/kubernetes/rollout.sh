#!/bin/sh
# Rolls out a release, or the first one: migrations, then every Deployment of workers, then the API. A new API may send
# workflows what only new workers understand. It ends where a step fails, and may be run again.
set -eu
cd "$(dirname "$0")"
kubectl delete job amanah-migrate --ignore-not-found
kubectl apply -k . -l 'app.kubernetes.io/component!=api'
kubectl wait --for=condition=complete job/amanah-migrate --timeout=15m
workers=$(kubectl get deployments -o name -l 'app.kubernetes.io/component in (worker, worker-webhooks)')
for deployment in $workers; do
  kubectl rollout status "$deployment" --timeout=15m
done
kubectl apply -k .
kubectl rollout status deployment.apps/amanah-api --timeout=10m
