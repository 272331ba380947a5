/** What a partner keeps with a resource for itself: texts by names that mean nothing to the platform. */
export type Metadata = Readonly<Record<string, string>>;
