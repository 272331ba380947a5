import { html, raw } from 'hono/html';
import type { DocumentPart } from '../../platform/http/stream-document.ts';
import { formatWesternIndonesia } from '../../shared/clock.ts';
import type { Money } from '../../shared/money.ts';
import type { DonationStatementFacts, DonationStatementLine } from './read-donation-statement.ts';

const styles = `
body { margin: 0 auto; max-width: 52rem; padding: 1.5rem; font: 15px/1.45 system-ui, sans-serif; color: #1d2329; background: #fff; }
h1 { font-size: 1.375rem; margin: 0 0 0.25rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.25rem 1rem; }
dt { color: #59636e; }
dd { margin: 0; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; }
thead { display: table-header-group; }
tr { break-inside: avoid; }
th, td { text-align: left; vertical-align: top; padding: 0.3125rem 0.75rem 0.3125rem 0; border-bottom: 1px solid #d5dae0; overflow-wrap: anywhere; }
.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
footer { color: #59636e; font-size: 0.8125rem; margin-top: 1rem; }
@page { margin: 18mm; }
@media print { body { max-width: none; padding: 0; } }
`;

/** Formats an amount in Indonesian notation, without zero decimals: Rp 1.250.000. */
function inRupiah(amount: Money): string {
  const [whole = '', fraction = ''] = amount.split('.');
  const decimals = fraction.replace(/0+$/, '');
  return `Rp ${whole.replace(/\B(?=(\d{3})+$)/g, '.')}${decimals && `,${decimals}`}`;
}

const head = (facts: DonationStatementFacts): string => {
  const { year, donor_name, donor_id, count, donated, refunded, total } = facts;
  return String(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Donations ${year}</title>
<style>${raw(styles)}</style>
</head>
<body>
<h1>Donations in ${year}</h1>
<dl>
<dt>Donor</dt><dd>${donor_name}</dd>
<dt>Donor ID</dt><dd>${donor_id}</dd>
<dt>Donations</dt><dd>${count}</dd>
<dt>Donated</dt><dd>${inRupiah(donated)}</dd>
<dt>Refunded</dt><dd>${inRupiah(refunded)}</dd>
<dt>Total</dt><dd><strong>${inRupiah(total)}</strong></dd>
</dl>
<table>
<thead><tr><th scope="col">Date</th><th scope="col">Cause</th><th scope="col">Donation</th><th scope="col" class="number">Amount</th></tr></thead>
<tbody>
`);
};

const row = ({ donated_at, cause_name, donation_id, amount, status }: DonationStatementLine): string => {
  const day = formatWesternIndonesia(new Date(donated_at)).slice(0, 10);
  const given = status === 'refunded' ? html`<s>${inRupiah(amount)}</s> refunded` : inRupiah(amount);
  return String(
    html`<tr><td>${day}</td><td>${cause_name ?? 'Where it is needed most'}</td><td>${donation_id}</td><td class="number">${given}</td></tr>
`,
  );
};

const foot = `</tbody>
</table>
<footer>Dates are in UTC+7; amounts are in Indonesian rupiah.</footer>
</body>
</html>
`;

/** Renders the statement as a printable page while it is read; escapes every value. */
export async function* donationStatementPage(
  parts: AsyncIterable<DocumentPart<DonationStatementFacts, DonationStatementLine>>,
): AsyncGenerator<string> {
  for await (const part of parts) yield 'lines' in part ? part.lines.map(row).join('') : head(part);
  yield foot;
}
