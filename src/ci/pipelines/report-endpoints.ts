import { anyone, getVisibleProject } from '../../access/subjects.ts'
import { forbidden, unauthorized } from '../../base/problem.ts'
import { endpoint } from '../../http/endpoint.ts'
import { id, text } from '../../http/params.ts'
import { getPipeline, mayReadBuilds, onBuilds } from './access.ts'
import {
  readTestSummary,
  streamTestReport,
  testReportEntity,
  testReportSummaryEntity,
} from './test-report.ts'

const params = { pipeline_id: id() }

export const getPipelineTestReport = endpoint({
  method: 'GET',
  path: '/projects/:id/pipelines/:pipeline_id/test_report',
  summary: 'Get the test report of a pipeline',
  access: onBuilds(),
  params,
  response: testReportEntity,
  async handler({ ctx, project, params }) {
    const row = await getPipeline(ctx, project, params.pipeline_id)
    return await streamTestReport(ctx, row.id)
  },
})

export const getPipelineTestReportSummary = endpoint({
  method: 'GET',
  path: '/projects/:id/pipelines/:pipeline_id/test_report_summary',
  summary: 'Read how many tests of a pipeline passed and failed',
  access: onBuilds(),
  params,
  response: testReportSummaryEntity,
  async handler({ ctx, project, params }) {
    const row = await getPipeline(ctx, project, params.pipeline_id)
    return await readTestSummary(ctx, row.id)
  },
})

/** The short path of the endpoint table: project and pipeline are parameters. */
export const getTestReportSummary = endpoint({
  method: 'GET',
  path: '/test_report_summary',
  summary:
    'Read how many tests of a pipeline passed and failed, project and pipeline as parameters',
  access: anyone(),
  query: { project_id: text(), pipeline_id: id() },
  response: testReportSummaryEntity,
  async handler({ ctx, query }) {
    const project = await getVisibleProject(ctx, query.project_id)
    if (!mayReadBuilds(ctx, project)) {
      throw ctx.actor.kind === 'anonymous' ? unauthorized() : forbidden()
    }
    const row = await getPipeline(ctx, project, query.pipeline_id)
    return await readTestSummary(ctx, row.id)
  },
})
