import type { Instant } from '../../base/clock.ts'

export interface UserAgentsTable {
  subject_type: 'Issue' | 'Snippet'
  subject_id: number
  user_agent: string
  ip_address: string
  created_at: Instant
}

export interface UserAgentsSchema {
  user_agents: UserAgentsTable
}
