/** What hooks heard last of a pipeline or one of its jobs. */
export interface ToldStatusesTable {
  kind: 'pipeline' | 'job'
  id: number
  pipeline_id: number
  status: string
}

export interface ToldStatusesSchema {
  told_statuses: ToldStatusesTable
}
