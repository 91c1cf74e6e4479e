import { z } from 'zod'
import { notFound } from '../../base/problem.ts'
import { bytes, endpoint } from '../../http/endpoint.ts'
import { flag, text } from '../../http/params.ts'
import { onProjectPackages } from '../registry/access.ts'
import { answerDocument } from '../registry/documents.ts'
import { answerPackageFile } from '../registry/download.ts'
import { readChannelIndex } from './channel-index.ts'
import { assertChannel } from './chart.ts'
import { helmRead, helmWrite } from './client.ts'
import { publishChart } from './publish-chart.ts'
import { findChartFile } from './queries.ts'

const channel = text({ max: 255 })

export const getHelmIndex = endpoint({
  ...helmRead,
  method: 'GET',
  path: '/projects/:id/packages/helm/:channel/index.yaml',
  summary: 'Get the index of the Helm charts of a channel',
  access: onProjectPackages('read_packages'),
  params: { channel },
  response: bytes('text/yaml'),
  async handler({ ctx, project, params, request }) {
    assertChannel(params.channel)
    const index = await readChannelIndex(ctx, project, params.channel)
    return answerDocument(request, index, 'text/yaml; charset=utf-8')
  },
})

export const downloadHelmChart = endpoint({
  ...helmRead,
  method: 'GET',
  path: '/projects/:id/packages/helm/:channel/charts/:file_name',
  summary: 'Download a Helm chart',
  access: onProjectPackages('read_packages'),
  params: { channel, file_name: text({ max: 600 }) },
  response: bytes('application/gzip'),
  async handler({ ctx, project, params, request }) {
    const file = await findChartFile(ctx.db, project.id, params.channel, params.file_name)
    if (!file) throw notFound('Package file')
    return await answerPackageFile(ctx, request, file, { type: 'application/gzip' })
  },
})

export const publishHelmChart = endpoint({
  ...helmWrite,
  method: 'POST',
  path: '/projects/:id/packages/helm/api/:channel/charts',
  summary: 'Publish a Helm chart in a channel',
  access: onProjectPackages('write_package'),
  params: { channel },
  query: { force: flag().optional() },
  raw: true,
  response: z.strictObject({ message: z.string() }),
  status: 201,
  async handler({ ctx, project, params, request }) {
    await publishChart(ctx, project, params.channel, request)
    return { message: '201 Created' }
  },
})
