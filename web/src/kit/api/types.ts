import type { components } from './schema';

/** A record of the API by the name of its schema: `Schemas['Artifact']`. */
export type Schemas = components['schemas'];
