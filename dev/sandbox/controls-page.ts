import { type Faults, forgeries } from './faults.ts';
import { escapeHtml, noticeOf, page } from './page.ts';

const groups: readonly { name: keyof Faults; title: string; fields: Record<string, string> }[] = [
  {
    name: 'callbacks',
    title: 'Callbacks',
    fields: {
      copies: 'Copies of each',
      delay_ms: 'Delay in milliseconds',
      shuffle: 'Shuffle',
      drop: 'Drop all',
      forge: 'A forged callback before each',
    },
  },
  {
    name: 'requests',
    title: 'Requests',
    fields: {
      error_rate: 'Share that fails',
      hang_rate: 'Share never answered',
      hang_after_effect: 'Carry out unanswered ones',
      delay_ms: 'Delay in milliseconds',
      limit_rate: 'Share answered 429',
      retry_after_seconds: 'Retry-After of a 429 in seconds',
    },
  },
  { name: 'listing', title: 'Lists', fields: { lag_ms: 'Milliseconds until a new payment is listed' } },
];

function inputOf(name: string, label: string, value: unknown): string {
  const id = name.replace('.', '-');
  const said = `<label for="${id}">${label}</label>`;
  if (typeof value === 'boolean')
    return `<div><input type="checkbox" id="${id}" name="${name}" value="true"${value ? ' checked' : ''}> ${said}</div>`;
  if (typeof value === 'number')
    return `<div>${said}<input type="number" id="${id}" name="${name}" min="0" step="any" value="${value}"></div>`;
  const options = ['', ...forgeries].map(
    (one) => `<option value="${one}"${one === (value ?? '') ? ' selected' : ''}>${one || 'none'}</option>`,
  );
  return `<div>${said}<select id="${id}" name="${name}">${options.join('')}</select></div>`;
}

/** The faults as a form sends them; missing fields take their defaults. */
export function faultsIn(fields: URLSearchParams): object {
  const faults: Record<string, Record<string, unknown>> = {};
  for (const [name, text] of fields) {
    const [group = '', field = ''] = name.split('.');
    if (text === '' || field === '') continue;
    faults[group] = {
      ...faults[group],
      [field]: text === 'true' || (Number.isNaN(Number(text)) ? text : Number(text)),
    };
  }
  return faults;
}

/** The page that controls the sandbox's clock, bank accounts and faults. */
export function renderControls(faults: Faults, notice?: string): string {
  const parts = groups.map(({ name, title, fields }) => {
    const values: Record<string, unknown> = faults[name];
    const inputs = Object.entries(fields).map(([field, label]) => inputOf(`${name}.${field}`, label, values[field]));
    return `<fieldset><legend>${escapeHtml(title)}</legend><div class="actions">${inputs.join('')}</div></fieldset>`;
  });
  return page(
    'Controls',
    `<main><h1>Controls</h1>
<p class="lead">These settings apply to everybody who uses this sandbox.</p>
${noticeOf(notice)}
<h2>Clock</h2>
<p>Advances everything that waits here: deadlines, refunds, reversals, late callbacks.</p>
<form method="post" action="/controls/clock" class="actions">
<div><label for="seconds">Seconds</label><input id="seconds" name="seconds" type="number" min="1" value="3600" required></div>
<button>Advance</button>
</form>
<h2>Bank accounts</h2>
<p>The holder that the provider reports for an account.</p>
<form method="post" action="/controls/bank-accounts" class="actions">
<div><label for="bank_code">Bank code</label><input id="bank_code" name="bank_code" value="BCA" required></div>
<div><label for="number">Account number</label><input id="number" name="bank_account_number" inputmode="numeric" required></div>
<div><label for="holder">Holder; leave empty if the account does not exist</label><input id="holder" name="holder" maxlength="100"></div>
<button>Set</button>
</form>
<h2>Faults</h2>
<form method="post" action="/controls/faults">${parts.join('')}
<div class="actions"><button>Set these faults</button></div></form>
<form method="post" action="/controls/faults" class="actions"><button class="pay">No faults</button></form>
</main>`,
  );
}
