import type { Project } from '../../access/subjects.ts'
import { badRequest } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { RequestFacts } from '../../http/endpoint.ts'
import { publishFile } from '../registry/publish.ts'
import { readTarballFile } from '../registry/read-tarball.ts'
import { receiveForm } from '../registry/receive-form.ts'
import { CHART_FILE, chartFileName, isChannel, readChart } from './chart.ts'

/** Publishes the chart of a form in a channel, by the name and version that its own Chart.yaml says. */
export async function publishChart(
  ctx: Ctx,
  project: Project,
  channel: string,
  request: Pick<RequestFacts, 'headers' | 'body'>,
): Promise<void> {
  if (!isChannel(channel)) throw badRequest('channel is invalid')
  const { file } = await receiveForm(ctx, 'helm', request, 'chart')
  if (!file || file.kept.size === 0) throw badRequest('chart is missing')
  const received = file.kept
  const chart = await readChart(await readTarballFile(ctx, received.sha256, CHART_FILE))
  await publishFile(ctx, project, {
    type: 'helm',
    name: chart.name,
    version: chart.version,
    // The newest file of a version is the one that is served, so what is there may be published again.
    file: { name: chartFileName(chart), received, metadata: { channel, chart: chart.content } },
  })
}
