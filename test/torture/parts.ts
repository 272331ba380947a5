/** Processes of ours that may run more than once. */
export const serviceNames = ['api1', 'api2', 'worker1', 'worker2'] as const;
export type ServiceName = (typeof serviceNames)[number];

export const apiNames = ['api1', 'api2'] as const satisfies readonly ServiceName[];
export const workerNames = ['worker1', 'worker2'] as const satisfies readonly ServiceName[];
export type WorkerName = (typeof workerNames)[number];

/** Separate disks: one for the database, one for the logs and uploads of APIs. */
export const diskNames = ['postgres', 'api'] as const;
export type DiskName = (typeof diskNames)[number];

export const partNames = ['postgres', 'temporal', 'sandbox', ...serviceNames] as const;
export type PartName = (typeof partNames)[number];

/** Every connection between two parts, from client to server; each has a proxy. */
export const linkNames = [
  'client>api1',
  'client>api2',
  'sandbox>api',
  'workers>receiver',
  ...serviceNames.flatMap((from) => [`${from}>postgres`, `${from}>temporal`] as const),
  ...serviceNames.map((from) => `${from}>sandbox` as const),
] as const;
export type LinkName = (typeof linkNames)[number];
