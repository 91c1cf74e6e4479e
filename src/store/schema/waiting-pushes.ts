export interface WaitingPushesSchema {
  /** Finalized pushes whose effects are still to come. */
  waiting_pushes: {
    push_id: number
    project_id: number
  }
}
