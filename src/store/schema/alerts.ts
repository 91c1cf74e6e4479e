import type { Instant } from '../../base/clock.ts'
import type { Default, DefaultFlag, Flag, Id, Json, Optional, OptionalInstant } from './columns.ts'

export type EscalationStatus = 'triggered' | 'acknowledged' | 'resolved' | 'ignored'

export interface AlertsSchema {
  alert_integrations: {
    id: Id
    project_id: number
    name: string
    type: 'http' | 'prometheus'
    active: Flag
    endpoint_identifier: string
    /** The authorization key, sealed by the vault: maintainers may read it again. */
    sealed_token: string
    payload_example: Json
    /** JSON list of `{field_name, path, type, label}`. */
    payload_attribute_mappings: Default<string>
    created_at: Instant
    updated_at: Instant
  }

  alerts: {
    id: Id
    iid: number
    project_id: number
    title: string
    description: Optional<string>
    /** The place in `severities`. */
    severity: number
    /** The place in `statuses`. */
    status: Default<number>
    service: Optional<string>
    monitoring_tool: Optional<string>
    /** JSON list of texts. */
    hosts: Default<string>
    /** SHA-1 in hex of what makes two deliveries one alert. */
    fingerprint: Optional<string>
    started_at: Instant
    ended_at: OptionalInstant
    events: Default<number>
    /** The environment's name as it was sent. */
    environment: Optional<string>
    runbook: Optional<string>
    query: Optional<string>
    incident_markdown: Optional<string>
    issue_id: Optional<number>
    assignee_id: Optional<number>
    created_at: Instant
    updated_at: Instant
  }

  alert_metric_images: {
    id: Id
    alert_id: number
    filename: string
    /** Its name in the file store. */
    image_file: string
    size: number
    content_type: string
    /** Nobody guesses the address of the image. */
    secret: string
    url: Optional<string>
    url_text: Optional<string>
    created_at: Instant
  }

  /** What was accepted, and is to be followed by notes, incidents, mail and webhooks. */
  alert_follow_ups: {
    id: Id
    project_id: number
    alert_id: number
    action: 'opened' | 'repeated' | 'recovered'
  }

  incident_management_settings: {
    project_id: number
    create_issue: DefaultFlag
    send_email: DefaultFlag
    auto_close_incident: DefaultFlag
    issue_template_key: Optional<string>
    on_call_user_id: Optional<number>
  }

  incident_timeline_events: {
    id: Id
    issue_id: number
    author_id: Optional<number>
    action: string
    note: string
    occurred_at: Instant
    created_at: Instant
    updated_at: Instant
  }

  alert_payloads: {
    alert_id: number
    payload: string
  }

  /** Until when mail about alerts of a project is collected, and what was collected. */
  alert_mail_windows: {
    project_id: number
    until: Instant
    opened: number
    recovered: number
    /** JSON list of the first few titles. */
    titles: string
  }

  incident_escalations: {
    issue_id: number
    status: EscalationStatus
    updated_at: Instant
  }
}
