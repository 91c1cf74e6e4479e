import type { Endpoint } from '../../http/endpoint.ts'
import type { Page } from '../page.ts'
import { blamePage } from './blame.tsx'
import { blobPage } from './blob.tsx'
import { branchesPage, createBranchForm, deleteBranchForm, deleteMergedForm } from './branches.tsx'
import { commitForms, commitPage } from './commit.tsx'
import { commitPipelineEvents, commitPipelineFragment } from './commit-pipeline.tsx'
import { commitPages } from './commits.tsx'
import { comparePage, compareStart } from './compare.tsx'
import { contributorCounts, contributorsPage } from './contributors.tsx'
import { editPages } from './edit/edit.tsx'
import { editForms } from './edit/edit-forms.ts'
import { editReleasePage, newReleasePage, releaseForms } from './edit-release.tsx'
import { findFilePage } from './find-file.tsx'
import { lastCommitsFragment } from './last-commits.tsx'
import { releasePage, releasesPage } from './releases.tsx'
import { createTagForm, tagsPage } from './tags.tsx'
import { treePages } from './tree.tsx'

export const codePages: readonly Page[] = [
  ...treePages,
  blobPage,
  blamePage,
  findFilePage,
  contributorsPage,
  releasesPage,
  newReleasePage,
  releasePage,
  editReleasePage,
  ...editPages.map(({ page }) => page),
  ...commitPages,
  commitPage,
  compareStart,
  comparePage,
  branchesPage,
  tagsPage,
]

/** The forms of these pages, and their parts with an address of their own. */
export const codeParts: readonly Endpoint[] = [
  createBranchForm,
  deleteBranchForm,
  deleteMergedForm,
  createTagForm,
  ...commitForms,
  ...editForms,
  ...releaseForms,
  lastCommitsFragment,
  commitPipelineFragment,
  commitPipelineEvents,
  contributorCounts,
]
