/** The status of a pipeline or one of its jobs that hooks were notified of last. */
export interface NotifiedStatusesTable {
  kind: 'pipeline' | 'job'
  id: number
  pipeline_id: number
  status: string
}

export interface NotifiedStatusesSchema {
  notified_statuses: NotifiedStatusesTable
}
