/** Finalized pushes whose effects are still to come. */
export interface WaitingPushesTable {
  push_id: number
  project_id: number
}

export interface WaitingPushesSchema {
  waiting_pushes: WaitingPushesTable
}
