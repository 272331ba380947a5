#!/bin/sh
# Rolls out any release, including the first: migrations, then every worker Deployment, then the API, because only new
# workers understand a new API's input. Stops at the first failure; safe to run again.
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
