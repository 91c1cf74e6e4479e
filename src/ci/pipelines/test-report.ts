import { Readable } from 'node:stream'
import { z } from 'zod'
import type { Ctx } from '../../ctx.ts'
import { JsonText } from '../../http/endpoint.ts'
import { listTestSuites, readTestCases, type SuiteRow } from './report-queries.ts'

const counts = {
  total_time: z.number(),
  total_count: z.int(),
  success_count: z.int(),
  failed_count: z.int(),
  skipped_count: z.int(),
  error_count: z.int(),
}

const testCaseEntity = z.strictObject({
  status: z.string(),
  name: z.string(),
  classname: z.string(),
  file: z.string().nullable(),
  execution_time: z.number(),
  system_output: z.string().nullable(),
  stack_trace: z.string().nullable(),
})

/** What the jobs of a pipeline report of their tests (docs/contract/B-resolved §5.3). */
export const testReportEntity = z.strictObject({
  ...counts,
  test_suites: z.array(
    z.strictObject({
      name: z.string(),
      ...counts,
      suite_error: z.string().nullable(),
      test_cases: z.array(testCaseEntity),
    }),
  ),
})

/** The same without the cases. */
export const testReportSummaryEntity = z.strictObject({
  total: z.strictObject({
    time: z.number(),
    count: z.int(),
    success: z.int(),
    failed: z.int(),
    skipped: z.int(),
    error: z.int(),
    suite_error: z.string().nullable(),
  }),
  test_suites: z.array(
    z.strictObject({
      name: z.string(),
      ...counts,
      build_ids: z.array(z.int()),
      suite_error: z.string().nullable(),
    }),
  ),
})

/** The report as a stream: the cases go out as they are kept, of one job at a time, since to read them takes long. */
export async function streamTestReport(ctx: Ctx, pipelineId: number): Promise<JsonText> {
  const suites = await listTestSuites(ctx.db, pipelineId)
  return new JsonText(Readable.from(reportParts(ctx, suites), { objectMode: false }))
}

async function* reportParts(ctx: Ctx, suites: readonly SuiteRow[]) {
  yield opened({ ...totalOf(suites), test_suites: [] }, ']}')
  for (const [index, suite] of suites.entries()) {
    const { id, name, suite_error } = suite
    if (index > 0) yield ','
    yield opened({ name, ...totalOf([suite]), suite_error, test_cases: [] }, '[]}')
    yield await readTestCases(ctx.db, id)
    yield '}'
  }
  yield ']}'
}

/** JSON up to its end, which follows. */
function opened(value: object, end: string): string {
  return JSON.stringify(value).slice(0, -end.length)
}

export async function readTestSummary(
  ctx: Ctx,
  pipelineId: number,
): Promise<z.input<typeof testReportSummaryEntity>> {
  const suites = await listTestSuites(ctx.db, pipelineId)
  const total = totalOf(suites)
  return {
    total: {
      time: total.total_time,
      count: total.total_count,
      success: total.success_count,
      failed: total.failed_count,
      skipped: total.skipped_count,
      error: total.error_count,
      suite_error: suites.find((suite) => suite.suite_error !== null)?.suite_error ?? null,
    },
    test_suites: suites.map((suite) => ({
      name: suite.name,
      ...totalOf([suite]),
      build_ids: [suite.job_id],
      suite_error: suite.suite_error,
    })),
  }
}

function totalOf(suites: readonly SuiteRow[]) {
  const sum = (read: (suite: SuiteRow) => number) =>
    suites.reduce((total, suite) => total + read(suite), 0)
  const found = {
    success_count: sum((suite) => suite.success_count),
    failed_count: sum((suite) => suite.failed_count),
    skipped_count: sum((suite) => suite.skipped_count),
    error_count: sum((suite) => suite.error_count),
  }
  const total_count = Object.values(found).reduce((total, count) => total + count, 0)
  return { total_time: sum((suite) => suite.total_time), total_count, ...found }
}
