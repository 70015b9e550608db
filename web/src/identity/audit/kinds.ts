export const ACTORS = ['user', 'api_key', 'system', 'control_plane'] as const;
