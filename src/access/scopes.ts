/** Scopes that any person's token may have (docs/contract/A-resolved §7). */
export const PERSONAL_SCOPES = [
  'api',
  'read_api',
  'read_user',
  'read_repository',
  'write_repository',
  'read_registry',
  'write_registry',
  'read_virtual_registry',
  'write_virtual_registry',
  'create_runner',
  'manage_runner',
  'k8s_proxy',
  'self_rotate',
  'ai_features',
  'read_observability',
  'write_observability',
] as const

/** Scopes of administrators' tokens only. */
export const ADMIN_ONLY_SCOPES = ['sudo', 'admin_mode', 'read_service_ping'] as const

/** What the first administrator's token may do: everything. */
export const ADMIN_SCOPES = ['api', 'sudo', 'admin_mode', 'read_service_ping'] as const

/** Scopes of project and group tokens: no profile of a person to read. */
export const BOT_SCOPES = PERSONAL_SCOPES.filter((scope) => scope !== 'read_user')

/** Scopes that people may give themselves through the API. */
export const SELF_SERVICE_SCOPES = ['k8s_proxy', 'self_rotate'] as const

/** Scopes of OAuth applications. */
export const OAUTH_SCOPES = [
  ...PERSONAL_SCOPES,
  ...ADMIN_ONLY_SCOPES,
  'openid',
  'profile',
  'email',
] as const

/** Scopes of deploy tokens, in the order in which they are shown (docs/contract/A-resolved §8.1). */
export const DEPLOY_SCOPES = [
  'read_repository',
  'read_registry',
  'write_registry',
  'read_package_registry',
  'write_package_registry',
  'read_virtual_registry',
  'write_virtual_registry',
] as const
