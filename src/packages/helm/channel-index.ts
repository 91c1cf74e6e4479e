import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { type ReadyDocument, readDocument, readyDocument } from '../registry/documents.ts'
import { hasCharts, listCharts } from './queries.ts'

const MOST = { charts: 1000, bytes: 16 * 1024 * 1024 }

/** The index of a channel, ready-made; a channel that nobody published in has an empty one. */
export async function readChannelIndex(
  ctx: Ctx,
  project: Pick<Project, 'id'>,
  channel: string,
): Promise<ReadyDocument> {
  // Everybody may ask for any channel: of one that nobody published in nothing is kept.
  if (!(await hasCharts(ctx.db, project.id, channel))) {
    return await readyDocument(indexOf(ctx, project.id, []))
  }
  const key = { projectId: project.id, type: 'helm', nameKey: '', form: channel } as const
  const document = await readDocument(ctx, key, () => makeIndex(ctx, project.id, channel))
  if (!document) throw new Error('an index is always made')
  return document
}

async function makeIndex(ctx: Ctx, projectId: number, channel: string): Promise<string> {
  return indexOf(ctx, projectId, await listCharts(ctx.db, projectId, channel, MOST))
}

type ChartRow = Awaited<ReturnType<typeof listCharts>>[number]

function indexOf(ctx: Pick<Ctx, 'now'>, projectId: number, rows: readonly ChartRow[]): string {
  const entries: Record<string, unknown[]> = {}
  for (const row of rows) {
    const { chart } = JSON.parse(row.metadata ?? '{}') as { chart: Record<string, unknown> } // written by the upload
    const name = String(chart.name)
    if (!Object.hasOwn(entries, name)) entries[name] = []
    entries[name]?.push({
      ...chart,
      created: row.created_at,
      digest: row.file_sha256,
      urls: [`charts/${row.file_name}`],
    })
  }
  const contextPath = `/api/v4/projects/${projectId}/packages/helm`
  // JSON is YAML: it quotes what looks like a number, such as an appVersion of 1.10.
  return [
    'apiVersion: v1',
    `entries: ${JSON.stringify(entries)}`,
    `generated: ${JSON.stringify(ctx.now())}`,
    `serverInfo: ${JSON.stringify({ contextPath })}`,
    '',
  ].join('\n')
}
