export interface NotifiedStatusesSchema {
  /** The status of a pipeline or one of its jobs that hooks were notified of last. */
  notified_statuses: {
    kind: 'pipeline' | 'job'
    id: number
    pipeline_id: number
    status: string
  }
}
