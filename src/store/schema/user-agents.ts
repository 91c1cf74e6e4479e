import type { Instant } from '../../base/clock.ts'

export interface UserAgentsSchema {
  user_agents: {
    subject_type: 'Issue' | 'Snippet'
    subject_id: number
    user_agent: string
    ip_address: string
    created_at: Instant
  }
}
