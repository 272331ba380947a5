import { bearerOf } from '../platform/http/bearer.ts';
import { refuse } from '../shared/errors.ts';
import { isHexDigest, secondSignatureTime } from './signature.ts';

/** The headers that authenticate a partner; undefined if not sent. */
export interface ProofHeaders {
  authorization: string | undefined;
  signature: string | undefined;
  signatureV2: string | undefined;
}

/** The refusal of a request without an API key. */
export const missingAuthorization = 'There is no Authorization header: send `Authorization: Bearer <API key>`';

function refuseProof(message: string): never {
  refuse('AUTH_INVALID_CREDENTIALS', message);
}

/**
 * Refuses headers that cannot be valid for any key and secret, with the reason. Looks up no key, so the error reveals
 * nothing about one.
 */
export function refuseMalformedProof({ authorization, signature, signatureV2 }: ProofHeaders): void {
  if (!authorization) refuseProof(missingAuthorization);
  if (bearerOf(authorization) === '') refuseProof('The Authorization header is not `Bearer <API key>`');
  if (!signature) refuseProof('There is no x-partner-signature header: reads need it, too, over the empty string');
  if (!isHexDigest(signature)) refuseProof('The x-partner-signature is not a hex HMAC-SHA256, which has 64 hex digits');
  if (signatureV2 === undefined) return;
  if (secondSignatureTime(signatureV2) === null) {
    refuseProof('The x-partner-signature-v2 is not `t=<unix seconds>,v1=<64 hex digits>`');
  }
}
