import { readHeadPipeline } from './ci/request-pipelines/head-pipeline.ts'
import type { Readers } from './ctx.ts'
import { readTodoIssues } from './planning/issues/todo-targets.ts'
import { readTodoRequests } from './review/merge-requests/people/todo-targets.ts'

/** Who reads what a lower area shows of a higher one. */
export const readers: Readers = {
  todoTargets: { Issue: readTodoIssues, MergeRequest: readTodoRequests },
  headPipeline: readHeadPipeline,
}
