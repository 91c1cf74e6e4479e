import { onProject, signedIn } from '../../access/subjects.ts'
import { endpoint } from '../../http/endpoint.ts'
import { flag, text } from '../../http/params.ts'
import { defaultRef } from '../../repositories/repository/access.ts'
import { lintAlone, lintBeforeCommits, lintedAloneEntity } from './lint-alone.ts'
import { lintConfig, lintEntity } from './lint-config.ts'

const path = '/projects/:id/ci/lint'
/** A little above the largest configuration that is read at all. */
const LONGEST = 4 * 1024 * 1024

export const lintContent = endpoint({
  method: 'POST',
  path,
  summary: 'Check a CI configuration in a project',
  access: onProject('create_pipeline'),
  body: {
    content: text({ max: LONGEST }),
    dry_run: flag().default(false),
    include_jobs: flag().default(false),
    ref: text().optional(),
  },
  response: lintEntity,
  status: 200,
  handler: ({ ctx, project, body }) =>
    project.empty_repo && !body.dry_run
      ? lintBeforeCommits(ctx, project, {
          content: body.content,
          includeJobs: body.include_jobs,
        })
      : lintConfig(ctx, project, {
          content: body.content,
          ref: body.ref || defaultRef(project),
          dryRun: body.dry_run,
          includeJobs: body.include_jobs,
        }),
})

export const lintProject = endpoint({
  method: 'GET',
  path,
  summary: 'Check the CI configuration of a project',
  access: onProject('download_code'),
  query: {
    content_ref: text().optional(),
    sha: text().optional(),
    dry_run: flag().default(false),
    dry_run_ref: text().optional(),
    ref: text().optional(),
    include_jobs: flag().default(false),
  },
  response: lintEntity,
  handler({ ctx, project, query }) {
    const contentRef = query.content_ref || query.sha || defaultRef(project)
    const ref = query.dry_run ? query.dry_run_ref || query.ref || defaultRef(project) : contentRef
    return lintConfig(ctx, project, {
      content: undefined,
      contentRef: ref === contentRef ? undefined : contentRef,
      ref,
      dryRun: query.dry_run,
      includeJobs: query.include_jobs,
    })
  },
})

export const lintWithoutProject = endpoint({
  method: 'POST',
  path: '/ci/lint',
  summary: 'Lint a CI configuration without a project',
  access: signedIn(),
  body: {
    content: text({ max: LONGEST }),
    include_merged_yaml: flag().default(false),
    include_jobs: flag().default(false),
  },
  response: lintedAloneEntity,
  status: 200,
  handler: ({ ctx, body }) =>
    lintAlone(ctx, {
      content: body.content,
      includeMerged: body.include_merged_yaml,
      includeJobs: body.include_jobs,
    }),
})
