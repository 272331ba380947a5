import { createHmac, hkdfSync } from 'node:crypto';
import { must } from '../../shared/assert.ts';
import { equalSecrets } from '../../shared/digest.ts';

/** Facts with a proof, if there is one. */
export type Proved<Facts> = Facts & { proof?: string };

/**
 * Proves facts that pass through Temporal, whose port has no login: anybody who can reach it can start workflows and
 * poll tasks as a worker, but cannot create a proof.
 */
export interface Prover {
  /** Returns the facts with a proof that one of our processes stated them about this resource. */
  prove<Facts extends object>(about: string, facts: Facts): Proved<Facts>;
  /** Returns the facts if their proof is valid, otherwise null. */
  check<Facts extends object>(about: string, proved: Proved<Facts>): Facts | null;
}

const purpose = 'amanah: what travels through temporal';

/**
 * A proof is `<key id>.<HMAC-SHA256 in base64url>` over the resource and the facts' JSON, whose field order survives
 * every transport. The keys are derived from the live encryption keys, newest first; all of them verify, the newest
 * signs.
 */
export function createProver(keys: readonly { id: string; key: Uint8Array }[]): Prover {
  const derived = new Map(
    keys.map(({ id, key }) => [id, Buffer.from(hkdfSync('sha256', key, '', purpose, 32))] as const),
  );
  const newest = must(keys[0], 'there is an encryption key').id;
  const proofBy = (id: string, about: string, facts: object): string | null => {
    const key = derived.get(id);
    if (key === undefined) return null;
    const mac = createHmac('sha256', key)
      .update(JSON.stringify([about, facts]))
      .digest('base64url');
    return `${id}.${mac}`;
  };
  return {
    prove: (about, facts) => ({
      ...facts,
      proof: must(proofBy(newest, about, facts), 'the newest key is one of the keys'),
    }),
    check<Facts extends object>(about: string, { proof, ...facts }: Proved<Facts>) {
      if (typeof proof !== 'string') return null;
      const expected = proofBy(proof.slice(0, proof.lastIndexOf('.')), about, facts);
      return expected !== null && equalSecrets(expected, proof) ? (facts as unknown as Facts) : null;
    },
  };
}
