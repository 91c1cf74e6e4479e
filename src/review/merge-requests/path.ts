import { integer } from '../../http/params.ts'

/** What every endpoint below one merge request shares. */
export const path = '/projects/:id/merge_requests/:merge_request_iid'
export const params = { merge_request_iid: integer() }
export const tags = ['merge_requests']
