/** How a setting of the instance is read and checked, with what it is until somebody sets it. */
export type SettingDefinition =
  | { readonly kind: 'flag'; readonly preset: boolean }
  | { readonly kind: 'integer'; readonly preset: number | null; readonly min: number }
  | { readonly kind: 'text'; readonly preset: string | null }
  /** A regular expression, letter case aside. */
  | { readonly kind: 'regex'; readonly preset: null }
  | { readonly kind: 'word'; readonly preset: string; readonly words: readonly string[] }
  | {
      readonly kind: 'list'
      readonly preset: readonly string[]
      readonly words?: readonly string[]
      /** Each is a host, an address or a network, with an optional port. */
      readonly places?: true
    }

type Kind<K> = Extract<SettingDefinition, { readonly kind: K }>

const flag = (preset: boolean) => ({ kind: 'flag', preset }) as const
const integer = (preset: number, min = 0) => ({ kind: 'integer', preset, min }) as const
const optionalInteger = (preset: number | null = null, min = 0): Kind<'integer'> => ({
  kind: 'integer',
  preset,
  min,
})
const text = (preset: string) => ({ kind: 'text', preset }) as const
const optionalText = (): Kind<'text'> => ({ kind: 'text', preset: null })
const optionalRegex = (): Kind<'regex'> => ({ kind: 'regex', preset: null })
const word = <const T extends string>(preset: T, words: readonly T[]) =>
  ({ kind: 'word', preset, words }) as const
const list = (preset: readonly string[], words?: readonly string[]): Kind<'list'> => ({
  kind: 'list',
  preset,
  ...(words ? { words } : {}),
})

const VISIBILITIES = ['private', 'internal', 'public'] as const

/** Application settings by their names on the wire (docs/contract/D §1.26). Whoever needs one asks `ctx.settings`. */
export const settingDefinitions = {
  abuse_notification_email: optionalText(),
  after_sign_out_path: optionalText(),
  after_sign_up_text: text(''),
  allow_local_requests_from_hooks_and_services: flag(false),
  allow_local_requests_from_system_hooks: flag(false),
  allow_local_requests_from_web_hooks_and_services: flag(false),
  allow_top_level_group_owners_to_create_service_accounts: flag(true),
  archive_builds_in_human_readable: optionalText(),
  asset_proxy_allowlist: list([]),
  asset_proxy_enabled: flag(false),
  authorized_keys_enabled: flag(true),
  auto_devops_domain: optionalText(),
  auto_devops_enabled: flag(false),
  bulk_import_enabled: flag(false),
  can_create_group: flag(true),
  can_create_organization: flag(true),
  commit_email_hostname: optionalText(),
  container_registry_token_expire_delay: integer(15, 1),
  deactivate_dormant_users: flag(false),
  deactivate_dormant_users_period: integer(90, 90),
  default_artifacts_expire_in: text('30 days'),
  default_branch_name: text('main'),
  default_branch_protection: integer(2),
  default_ci_config_path: optionalText(),
  default_group_visibility: word('private', VISIBILITIES),
  default_preferred_language: text('en'),
  default_project_creation: integer(2),
  default_project_visibility: word('private', VISIBILITIES),
  default_projects_limit: integer(100_000),
  default_snippet_visibility: word('private', VISIBILITIES),
  delayed_project_removal: flag(false),
  deletion_adjourned_period: integer(30),
  diff_max_files: integer(1000),
  diff_max_lines: integer(50_000),
  diff_max_patch_bytes: integer(204_800),
  disable_feed_token: flag(false),
  disabled_oauth_sign_in_sources: list([]),
  domain_allowlist: list([]),
  domain_denylist: list([]),
  domain_denylist_enabled: flag(false),
  ecdsa_key_restriction: integer(0, -1),
  ecdsa_sk_key_restriction: integer(0, -1),
  ed25519_key_restriction: integer(0, -1),
  ed25519_sk_key_restriction: integer(0, -1),
  lock_maven_package_requests_forwarding: flag(false),
  lock_npm_package_requests_forwarding: flag(false),
  lock_pypi_package_requests_forwarding: flag(false),
  maven_package_requests_forwarding: flag(false),
  npm_package_requests_forwarding: flag(false),
  pypi_package_requests_forwarding: flag(false),
  rsa_key_restriction: integer(0, -1),
  dsa_key_restriction: integer(-1, -1),
  email_additional_text: text(''),
  email_confirmation_setting: word('off', ['off', 'soft', 'hard']),
  email_restrictions: optionalRegex(),
  email_restrictions_enabled: flag(false),
  enabled_git_access_protocol: optionalText(),
  enforce_terms: flag(false),
  external_auth_client_cert: optionalText(),
  first_day_of_week: integer(0),
  gravatar_enabled: flag(false),
  group_export_limit: integer(6),
  group_import_limit: integer(6),
  help_page_hide_commercial_content: flag(false),
  help_page_support_url: optionalText(),
  help_page_text: text(''),
  home_page_url: optionalText(),
  housekeeping_enabled: flag(true),
  html_emails_enabled: flag(true),
  impersonation_enabled: flag(true),
  import_sources: list(['github', 'bitbucket', 'bitbucket_server', 'fogbugz', 'git', 'gitea']),
  inactive_projects_delete_after_months: integer(2),
  invisible_captcha_enabled: flag(false),
  issues_create_limit: integer(0),
  keep_latest_artifact: flag(true),
  local_markdown_version: integer(0),
  max_artifacts_content_include_size: integer(5_242_880),
  max_artifacts_size: integer(100),
  max_attachment_size: integer(100),
  max_export_size: integer(0),
  max_import_size: integer(0),
  max_pages_size: integer(100),
  max_personal_access_token_lifetime: optionalInteger(null, 1),
  max_ssh_key_lifetime: optionalInteger(null, 1),
  max_yaml_depth: integer(100),
  max_yaml_size_bytes: integer(2_097_152),
  members_delete_limit: integer(60),
  minimum_password_length: integer(8, 8),
  mirror_available: flag(true),
  notes_create_limit: integer(300),
  notes_create_limit_allowlist: list([]),
  notify_on_unknown_sign_in: flag(false),
  outbound_local_requests_whitelist: { ...list([]), places: true },
  password_authentication_enabled_for_git: flag(true),
  password_authentication_enabled_for_web: flag(true),
  password_lowercase_required: flag(false),
  password_number_required: flag(false),
  password_symbol_required: flag(false),
  password_uppercase_required: flag(false),
  personal_access_token_prefix: optionalText(),
  plantuml_enabled: flag(false),
  plantuml_url: optionalText(),
  project_export_enabled: flag(true),
  project_export_limit: integer(6),
  project_import_limit: integer(6),
  projects_api_rate_limit_unauthenticated: integer(400),
  push_event_activities_limit: integer(3),
  push_event_hooks_limit: integer(3),
  rate_limiting_response_text: text(''),
  raw_blob_request_limit: integer(300),
  receive_max_input_size: optionalInteger(),
  remember_me_enabled: flag(true),
  repository_checks_enabled: flag(false),
  repository_size_limit: integer(0),
  require_admin_approval_after_user_signup: flag(true),
  require_personal_access_token_expiry: flag(true),
  require_two_factor_authentication: flag(false),
  restricted_visibility_levels: list([], VISIBILITIES),
  allow_runner_registration_token: flag(true),
  runner_token_expiration_interval: optionalInteger(),
  send_user_confirmation_email: flag(false),
  service_access_tokens_expiration_enforced: flag(true),
  session_expire_delay: integer(10_080, 1),
  shared_runners_enabled: flag(true),
  shared_runners_text: text(''),
  sign_in_text: text(''),
  signup_enabled: flag(false),
  snippet_size_limit: integer(52_428_800),
  terms: optionalText(),
  throttle_authenticated_api_enabled: flag(false),
  throttle_authenticated_api_period_in_seconds: integer(3600, 1),
  throttle_authenticated_api_requests_per_period: integer(7200, 1),
  throttle_authenticated_git_lfs_enabled: flag(false),
  throttle_authenticated_git_lfs_period_in_seconds: integer(60, 1),
  throttle_authenticated_git_lfs_requests_per_period: integer(1000, 1),
  throttle_authenticated_web_enabled: flag(false),
  throttle_authenticated_web_period_in_seconds: integer(3600, 1),
  throttle_authenticated_web_requests_per_period: integer(7200, 1),
  throttle_incident_management_notification_enabled: flag(false),
  throttle_incident_management_notification_per_period: integer(3600, 1),
  throttle_incident_management_notification_period_in_seconds: integer(3600, 1),
  throttle_unauthenticated_api_enabled: flag(false),
  throttle_unauthenticated_api_period_in_seconds: integer(3600, 1),
  throttle_unauthenticated_api_requests_per_period: integer(3600, 1),
  throttle_unauthenticated_enabled: flag(false),
  throttle_unauthenticated_period_in_seconds: integer(3600, 1),
  throttle_unauthenticated_requests_per_period: integer(3600, 1),
  time_tracking_limit_to_hours: flag(false),
  two_factor_grace_period: integer(48),
  unique_ips_limit_enabled: flag(false),
  unique_ips_limit_per_user: optionalInteger(10, 1),
  unique_ips_limit_time_window: optionalInteger(3600),
  usage_ping_enabled: flag(false),
  user_deactivation_emails_enabled: flag(true),
  user_default_external: flag(false),
  user_default_internal_regex: optionalRegex(),
  user_defaults_to_private_profile: flag(false),
  user_oauth_applications: flag(true),
  user_show_add_ssh_key_message: flag(true),
  version_check_enabled: flag(false),
  web_ide_clientside_preview_enabled: flag(false),
  whats_new_variant: word('disabled', ['all_tiers', 'current_tier', 'disabled']),
  wiki_page_max_content_bytes: integer(52_428_800),
} as const satisfies Readonly<Record<string, SettingDefinition>>

type Widened<D> = D extends { readonly kind: 'flag' }
  ? boolean
  : D extends { readonly kind: 'integer'; readonly preset: infer P }
    ? null extends P
      ? number | null
      : number
    : D extends { readonly kind: 'text'; readonly preset: infer P }
      ? null extends P
        ? string | null
        : string
      : D extends { readonly kind: 'regex' }
        ? string | null
        : D extends { readonly kind: 'word'; readonly words: readonly (infer W)[] }
          ? W
          : readonly string[]

export type SettingName = keyof typeof settingDefinitions

/** Every application setting with its value. */
export type SettingValues = {
  readonly [K in SettingName]: Widened<(typeof settingDefinitions)[K]>
}
