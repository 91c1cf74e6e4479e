import type { Ctx } from '../../ctx.ts'
import { type StreamedForm, streamForm } from '../../http/body/stream-form.ts'
import type { RequestFacts } from '../../http/endpoint.ts'
import type { PackageType } from '../../store/schema/packages.ts'
import { standardEnd } from './form-end.ts'
import { type ReceivedFile, type ReceiveOptions, storeFile } from './receive.ts'

/** Streams a multipart body whose file is in the part of this name into the file store. */
export function receiveForm(
  ctx: Ctx,
  type: PackageType,
  request: Pick<RequestFacts, 'headers' | 'body'>,
  part: string,
  options: ReceiveOptions = {},
): Promise<StreamedForm<ReceivedFile>> {
  const mended = standardEnd(String(request.headers['content-type'] ?? ''))
  return streamForm(request, part, (file) => storeFile(ctx, type, file, options), mended)
}
