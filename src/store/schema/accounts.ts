import type { Day, Instant } from '../../base/clock.ts'
import type { Default, DefaultFlag, Id, Json, Optional, OptionalInstant } from './columns.ts'
import type { SourceType } from './core.ts'

export type NotificationLevel =
  | 'disabled'
  | 'participating'
  | 'watch'
  | 'global'
  | 'mention'
  | 'custom'

export interface AccountsSchema {
  topics: {
    id: Id
    name: string
    title: string
    description: Optional<string>
    avatar_file: Optional<string>
    avatar_name: Optional<string>
    created_at: Instant
    updated_at: Instant
  }

  /** Which projects a deploy key opens. */
  deploy_key_projects: {
    id: Id
    key_id: number
    project_id: number
    can_push: DefaultFlag
    created_at: Instant
    updated_at: Instant
  }

  gpg_keys: {
    id: Id
    user_id: number
    key: string
    fingerprint: string
    key_id: string
    created_at: Instant
  }

  /** A subkey of a registered GPG key. */
  gpg_subkeys: {
    id: Id
    gpg_key_id: number
    fingerprint: string
    key_id: string
  }

  deploy_tokens: {
    id: Id
    source_type: SourceType
    source_id: number
    name: string
    /** Null: the default name with the token's id. */
    username: Optional<string>
    /** sha256 of the secret. */
    digest: Buffer
    /** The secret itself where jobs are given it. */
    sealed_secret: Optional<string>
    scopes: string
    expires_at: OptionalInstant
    revoked: DefaultFlag
    last_used_at: OptionalInstant
    created_by_id: Optional<number>
    created_at: Instant
    updated_at: Instant
  }

  oauth_applications: {
    id: Id
    uid: string
    secret_digest: Buffer
    name: string
    /** One URI a line. */
    redirect_uri: string
    scopes: string
    confidential: DefaultFlag
    created_at: Instant
    updated_at: Instant
  }

  /** Codes that people have let an application have, to be turned into a token once. */
  oauth_grants: {
    id: Id
    application_id: number
    user_id: number
    code_digest: Buffer
    redirect_uri: string
    scopes: string
    code_challenge: Optional<string>
    code_challenge_method: Optional<'plain' | 'S256'>
    nonce: Optional<string>
    expires_at: Instant
    used_at: OptionalInstant
    created_at: Instant
  }

  /** Devices that wait for their user to type the code; `user_id` is set once that was done. */
  oauth_devices: {
    id: Id
    application_id: number
    user_id: Optional<number>
    device_digest: Buffer
    user_code: string
    denied: DefaultFlag
    scopes: string
    expires_at: Instant
    polled_at: OptionalInstant
    created_at: Instant
  }

  oauth_tokens: {
    id: Id
    application_id: Optional<number>
    /** Null: the application itself (client credentials). */
    user_id: Optional<number>
    grant_id: Optional<number>
    /** The token that this one came of by refreshing, perhaps over others. */
    family_id: Optional<number>
    digest: Buffer
    refresh_digest: Optional<Buffer>
    scopes: string
    expires_at: Instant
    revoked_at: OptionalInstant
    last_used_at: OptionalInstant
    created_at: Instant
  }

  follows: {
    follower_id: number
    followee_id: number
    created_at: Instant
  }

  user_statuses: {
    user_id: number
    emoji: Optional<string>
    message: Optional<string>
    availability: Default<'not_set' | 'busy'>
    clear_at: OptionalInstant
  }

  /** Links sent by mail: to confirm an address, or to set a new password. */
  email_confirmations: {
    id: Id
    user_id: number
    email: string
    purpose: 'confirm' | 'reset_password'
    digest: Buffer
    created_at: Instant
  }

  /** Who a user is at another sign-in provider. */
  identities: {
    id: Id
    user_id: number
    provider: string
    extern_uid: string
    created_at: Instant
  }

  notification_settings: {
    id: Id
    user_id: number
    source_type: Default<SourceType | 'instance'>
    /** 0 for the instance. */
    source_id: Default<number>
    level: NotificationLevel
    events: Json
    notification_email: Optional<string>
    updated_at: Instant
  }

  broadcast_messages: {
    id: Id
    message: string
    starts_at: Instant
    ends_at: Instant
    color: Default<string>
    font: string
    target_access_levels: Default<string>
    target_path: Default<string>
    broadcast_type: Default<'banner' | 'notification'>
    dismissable: DefaultFlag
    theme: Default<string>
    created_at: Instant
    updated_at: Instant
  }

  /** Who has accepted which terms of service. */
  terms_agreements: {
    user_id: number
    /** sha256 of the text, in hex. */
    digest: string
    accepted_at: Instant
  }

  /** A browser that is signed in. */
  sessions: {
    id: Id
    user_id: number
    /** sha256 of the cookie. */
    digest: Buffer
    ip: Optional<string>
    expires_at: Instant
    created_at: Instant
    /** What the browser called itself, cut. */
    user_agent: Optional<string>
    /** The first step of a sign-in: opens nothing until the second is done. */
    waits_for: Optional<'second_factor'>
    /** When whoever sits there last showed a password, a code or a key. */
    proved_at: OptionalInstant
  }

  /** When somebody who must have a second factor was first asked for it. */
  two_factor_requests: {
    user_id: number
    asked_at: Instant
  }

  /** What an authenticator app shares with the server, sealed; it counts once it is confirmed. */
  totp_secrets: {
    user_id: number
    secret: string
    confirmed_at: OptionalInstant
    /** The latest half minute whose code was used: none of it, or before it, counts again. */
    last_step: Default<number>
    /** Wrong codes since `misses_since`. */
    misses: Default<number>
    misses_since: OptionalInstant
    created_at: Instant
  }

  /** Passkeys and security keys. */
  security_keys: {
    id: Id
    user_id: number
    /** As the browser names it, base64url. */
    credential_id: string
    public_key: Buffer
    sign_count: number
    transports: Default<string>
    name: string
    /** It names its owner by itself: no user name is needed beside it. */
    is_passkey: 0 | 1
    created_at: Instant
    last_used_at: OptionalInstant
  }

  /** Codes for whoever has lost their second factor, each for one use. */
  recovery_codes: {
    id: Id
    user_id: number
    digest: Buffer
  }

  /** Challenges that were answered, until they are over. */
  used_challenges: {
    digest: Buffer
    expires_at: Instant
  }

  /** A mail about an issue or merge request; its unsubscribe link carries what `digest` is made of. */
  sent_notifications: {
    id: Id
    digest: Buffer
    user_id: number
    subject_type: 'issue' | 'merge_request'
    subject_id: number
    created_at: Instant
  }

  /** Of which ends people were warned, so that they are warned once. */
  expiry_warnings: {
    kind: 'token' | 'member'
    subject_id: number
    expires_at: Day
    sent_at: Instant
  }
}
