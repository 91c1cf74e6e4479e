import { examples } from '../contract/example.ts'

const elsewhere = 'needs a pipeline: test/ci/pipelines'

export const ciExamples = examples(
  Object.fromEntries(
    [
      'POST P/pipeline',
      'GET P/pipelines/latest',
      'GET P/pipelines/:pipeline_id',
      'GET P/pipelines/:pipeline_id/variables',
      'POST P/pipelines/:pipeline_id/retry',
      'POST P/pipelines/:pipeline_id/cancel',
      'PUT P/pipelines/:pipeline_id/metadata',
      'DELETE P/pipelines/:pipeline_id',
      'GET P/pipelines/:pipeline_id/jobs',
      'GET P/pipelines/:pipeline_id/bridges',
      'GET P/jobs/:job_id',
      'POST P/jobs/:job_id/cancel',
      'POST P/jobs/:job_id/retry',
      'POST P/jobs/:job_id/play',
      'GET P/pipelines/:pipeline_id/test_report',
      'GET P/pipelines/:pipeline_id/test_report_summary',
      'GET /test_report_summary',
    ].map((name) => [name, { elsewhere }]),
  ),
)
