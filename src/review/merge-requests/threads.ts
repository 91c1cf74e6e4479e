import { threadEndpointsOf } from '../../discussions/notes/discussion-routes.ts'
import { noteKind } from './notes.ts'

/** The endpoints of the threads of merge requests, by their names. */
export const mergeRequestThreads = threadEndpointsOf(noteKind)
