import type { Endpoint } from '../../http/endpoint.ts'
import type { Page } from '../page.ts'
import {
  changedFileFragment,
  laterFilesFragment,
  mergeRequestDiffsPage,
} from './changes/changes.tsx'
import { lineCommentFragment, lineCommentPage } from './changes/line-comment.tsx'
import { rangeDiffPage } from './changes/range-diff.tsx'
import { reviewForms } from './changes/review-forms.ts'
import { mergeRequestCommitsPage } from './commits.tsx'
import { resolveConflictsForm, resolveConflictsPage } from './conflicts/conflicts.tsx'
import { editMergeRequestForm, editMergeRequestPage } from './edit.tsx'
import { mergeRequestEvents } from './events.ts'
import { requestForms } from './forms.ts'
import { mergeRequestsPage } from './list.tsx'
import { mergeRequestPage, mergeRequestPart } from './merge-request.tsx'
import { createMergeRequestForm, newMergeRequestPage } from './new.tsx'
import { mergeRequestPipelinesPage, runMergeRequestPipeline } from './pipelines.tsx'
import { revertMergeRequest } from './revert-form.ts'

export const reviewPages: readonly Page[] = [
  mergeRequestsPage,
  newMergeRequestPage,
  mergeRequestPage,
  mergeRequestDiffsPage,
  mergeRequestCommitsPage,
  rangeDiffPage,
  mergeRequestPipelinesPage,
  editMergeRequestPage,
  lineCommentPage,
  resolveConflictsPage,
]

/** The forms of these pages, and their parts with an address of their own. */
export const reviewParts: readonly Endpoint[] = [
  createMergeRequestForm,
  editMergeRequestForm,
  runMergeRequestPipeline,
  revertMergeRequest,
  resolveConflictsForm,
  ...requestForms,
  ...reviewForms,
  changedFileFragment,
  laterFilesFragment,
  lineCommentFragment,
  mergeRequestPart,
  mergeRequestEvents,
]
