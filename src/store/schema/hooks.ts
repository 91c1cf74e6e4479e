import type { Instant } from '../../base/clock.ts'
import type { Default, DefaultFlag, Id, Json, Optional, OptionalInstant } from './columns.ts'

export type HookKind = 'project' | 'group' | 'system'
export type BranchStrategy = 'wildcard' | 'regex' | 'all_branches'

export interface HooksSchema {
  webhooks: {
    id: Id
    kind: HookKind
    project_id: Optional<number>
    group_id: Optional<number>
    uuid: string
    name: Optional<string>
    description: Optional<string>
    /** Addresses, tokens and headers are secrets: sealed by the vault. */
    sealed_url: string
    sealed_token: Optional<string>
    /** JSON list of `{key, value}`. */
    sealed_headers: Optional<string>
    sealed_variables: Optional<string>
    /** JSON list of the flags that are on, such as `push_events`. */
    events: Json
    push_events_branch_filter: Optional<string>
    branch_filter_strategy: Default<BranchStrategy>
    enable_ssl_verification: DefaultFlag
    custom_webhook_template: Optional<string>
    /** Deliveries that failed since one went well. */
    failures: Default<number>
    disabled_until: OptionalInstant
    created_at: Instant
    updated_at: Instant
  }

  /** What was, or is to be, delivered to a webhook. */
  webhook_deliveries: {
    id: Id
    webhook_id: number
    trigger: string
    /** What `X-Svc-Event` says. */
    header: string
    event_uuid: string
    idempotency_key: string
    payload: string
    state: Default<'waiting' | 'done'>
    attempts: Default<number>
    url: Optional<string>
    request_headers: Json
    /** The status as text, or `internal error` when there was no answer. */
    response_status: Optional<string>
    response_headers: Json
    response_body: Optional<string>
    /** Seconds. */
    execution_duration: Optional<number>
    created_at: Instant
  }

  /** The status of a pipeline or one of its jobs that hooks were notified of last. */
  notified_statuses: {
    kind: 'pipeline' | 'job'
    id: number
    pipeline_id: number
    status: string
  }
}
