import type { Instant } from '../../base/clock.ts'
import type {
  Default,
  DefaultFlag,
  Id,
  Json,
  Optional,
  OptionalDay,
  OptionalInstant,
} from './columns.ts'

export type Visibility = 'private' | 'internal' | 'public'
export type UserState =
  | 'active'
  | 'blocked'
  | 'blocked_pending_approval'
  | 'deactivated'
  | 'banned'
  | 'ldap_blocked'
export type UserKind = 'human' | 'project_bot' | 'group_bot' | 'service_account' | 'ghost'
export type SourceType = 'group' | 'project'

export interface CoreSchema {
  namespaces: {
    id: Id
    kind: 'user' | 'group'
    parent_id: Optional<number>
    name: string
    path: string
    full_path: string
    full_name: string
    owner_id: Optional<number>
    visibility: Default<Visibility>
    description: Default<string>
    settings: Json
    avatar_file: Optional<string>
    avatar_name: Optional<string>
    share_with_group_lock: DefaultFlag
    project_creation_level: Default<string>
    subgroup_creation_level: Default<string>
    request_access_enabled: DefaultFlag
    membership_lock: DefaultFlag
    archived: DefaultFlag
    marked_for_deletion_on: OptionalDay
    /** A group that is being removed: nobody finds it any more. */
    pending_delete: DefaultFlag
    creator_id: Optional<number>
    created_at: Instant
    updated_at: Instant
  }

  projects: {
    id: Id
    namespace_id: number
    name: string
    path: string
    full_path: string
    description: Optional<string>
    visibility: Default<Visibility>
    default_branch: Optional<string>
    archived: DefaultFlag
    creator_id: Optional<number>
    forked_from_id: Optional<number>
    star_count: Default<number>
    forks_count: Default<number>
    empty_repo: DefaultFlag
    last_activity_at: Instant
    import_status: Default<'none' | 'scheduled' | 'started' | 'finished' | 'failed'>
    import_url: Optional<string>
    import_error: Optional<string>
    settings: Json
    avatar_file: Optional<string>
    avatar_name: Optional<string>
    repository_size: Default<number>
    pending_delete: DefaultFlag
    marked_for_deletion_on: OptionalDay
    created_at: Instant
    updated_at: Instant
  }

  /** Members, requests for access (`requested_at`) and invitations by e-mail (`invite_email`, no user). */
  members: {
    id: Id
    source_type: SourceType
    source_id: number
    user_id: Optional<number>
    access_level: number
    expires_at: OptionalDay
    state: Default<'active' | 'awaiting'>
    requested_at: OptionalInstant
    invite_email: Optional<string>
    invite_token_digest: Optional<Buffer>
    invite_accepted_at: OptionalInstant
    member_role_id: Optional<number>
    override: DefaultFlag
    /** The sign-in provider that gave it; null for what people gave. */
    provider: Optional<string>
    created_by_id: Optional<number>
    created_at: Instant
    updated_at: Instant
  }

  uploads: {
    id: Id
    source_type: SourceType
    source_id: number
    secret: string
    filename: string
    file: string
    size: number
    content_type: Optional<string>
    uploaded_by_id: Optional<number>
    created_at: Instant
  }

  users: {
    id: Id
    username: string
    name: string
    email: string
    public_email: Optional<string>
    commit_email: Optional<string>
    state: Default<UserState>
    kind: Default<UserKind>
    admin: DefaultFlag
    external: DefaultFlag
    private_profile: DefaultFlag
    password_hash: Optional<string>
    avatar_file: Optional<string>
    avatar_name: Optional<string>
    projects_limit: Default<number>
    can_create_group: DefaultFlag
    bio: Optional<string>
    location: Optional<string>
    website_url: Optional<string>
    organization: Optional<string>
    job_title: Optional<string>
    pronouns: Optional<string>
    note: Optional<string>
    settings: Json
    unconfirmed_email: Optional<string>
    confirmed_at: OptionalInstant
    last_activity_on: OptionalDay
    last_sign_in_at: OptionalInstant
    current_sign_in_at: OptionalInstant
    created_by_id: Optional<number>
    service_source_type: Optional<SourceType>
    service_source_id: Optional<number>
    /** Whether there is a second factor. Kept by triggers. */
    two_factor: DefaultFlag
    /** From then on a browser asks for another password before anything else. */
    password_expires_at: OptionalInstant
    created_at: Instant
    updated_at: Instant
  }

  /** Every namespace above a namespace, itself included at depth 0. Kept by triggers. */
  namespace_ancestors: {
    namespace_id: number
    ancestor_id: number
    depth: number
  }

  /** Which path belongs to whom, users, groups and projects together. Kept by triggers. */
  routes: {
    path: string
    namespace_id: number | null
    project_id: number | null
  }

  /** Old paths of projects that were renamed or moved. Kept by triggers. */
  redirects: {
    path: string
    project_id: number
  }

  /** A source that is shared with `group_id`. */
  group_links: {
    id: Id
    source_type: SourceType
    source_id: number
    group_id: number
    access_level: number
    expires_at: OptionalDay
    member_role_id: Optional<number>
    created_at: Instant
  }

  access_tokens: {
    id: Id
    kind: 'personal' | 'impersonation' | 'project' | 'group'
    user_id: number
    name: string
    description: Optional<string>
    /** sha256 of the secret. */
    digest: Buffer
    scopes: string
    expires_at: OptionalDay
    revoked: DefaultFlag
    last_used_at: OptionalInstant
    last_used_ips: Json
    source_type: Optional<SourceType>
    source_id: Optional<number>
    previous_id: Optional<number>
    family_id: Optional<number>
    created_by_id: Optional<number>
    created_at: Instant
    updated_at: Instant
  }

  stars: {
    user_id: number
    project_id: number
    created_at: Instant
  }

  settings: {
    key: string
    value: string
  }

  internal_ids: {
    scope: SourceType
    scope_id: number
    kind: string
    last: number
  }

  tasks: {
    id: Id
    name: string
    payload: string
    state: Default<'ready' | 'running' | 'dead'>
    attempts: Default<number>
    /** How often the process ended while it ran. */
    cut_offs: Default<number>
    run_at: Instant
    locked_at: OptionalInstant
    locked_by: Optional<string>
    last_error: Optional<string>
    unique_key: Optional<string>
    created_at: Instant
  }

  /** When each scheduled task was last handed out. */
  schedules: {
    name: string
    last_at: Instant
  }

  audit_events: {
    id: Id
    author_id: Optional<number>
    entity_type: string
    entity_id: number
    action: string
    details: Json
    ip: Optional<string>
    created_at: Instant
  }

  /** Keys of users, and deploy keys: those belong to no user. */
  ssh_keys: {
    id: Id
    user_id: Optional<number>
    deploy: DefaultFlag
    public: DefaultFlag
    title: string
    key: string
    fingerprint_sha256: string
    fingerprint_md5: string
    usage_type: Default<'auth' | 'signing' | 'auth_and_signing'>
    expires_at: OptionalInstant
    last_used_at: OptionalInstant
    created_by_id: Optional<number>
    created_at: Instant
  }

  emails: {
    id: Id
    user_id: number
    email: string
    confirmed_at: OptionalInstant
    confirmation_digest: Optional<Buffer>
    created_at: Instant
    updated_at: Instant
  }

  features: {
    name: string
    state: Default<'on' | 'off' | 'conditional'>
    gates: Default<string>
    updated_at: Instant
  }

  custom_attributes: {
    id: Id
    subject_type: 'user' | 'group' | 'project'
    subject_id: number
    key: string
    value: string
    created_at: Instant
    updated_at: Instant
  }
}
