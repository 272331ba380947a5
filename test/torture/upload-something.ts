import type { Topology } from './topology.ts';

const megabyte = 1024 * 1024;

/**
 * Sends a file to each API while the disk is full: the upload is refused or fails, and the API survives. Nothing is
 * stored, because there is no file store here.
 */
export async function uploadSomething(
  { apiUrls }: Topology,
  token: string,
  note: (text: string) => void,
): Promise<void> {
  const send = async (url: string) => {
    const form = new FormData();
    form.set('document_type', 'image');
    form.set('product_type', 'charitable_cause');
    form.set('product_id', crypto.randomUUID());
    form.set('file', new Blob([new Uint8Array(megabyte)]), 'report.pdf');
    const answer = await fetch(new URL('/v1/documents/upload', url), {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: form,
      signal: AbortSignal.timeout(8_000),
    });
    note(`an upload without space for it was answered ${answer.status}: ${(await answer.text()).slice(0, 200)}`);
  };
  await Promise.all(
    apiUrls.map((url) => send(url).catch((error: unknown) => note(`an upload had no answer: ${error}`))),
  );
}
