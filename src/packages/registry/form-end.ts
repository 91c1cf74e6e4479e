import { Transform } from 'node:stream'

/**
 * Writes the end of a form as the standard has it. An old client of NuGet on Unix puts a bare line feed before the last
 * boundary, which parsers take for a part of the file.
 */
export function standardEnd(contentType: string): Transform {
  const [, quoted, plain] = /boundary=(?:"([^"]{1,200})"|([^\s;]{1,200}))/i.exec(contentType) ?? []
  const end = Buffer.from(`\n--${quoted ?? plain ?? ''}--`)
  const most = end.length + 4
  let held = Buffer.alloc(0)
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const all = Buffer.concat([held, chunk])
      const ready = Math.max(0, all.length - most)
      held = all.subarray(ready)
      done(null, all.subarray(0, ready))
    },
    flush(done) {
      const at = held.lastIndexOf(end)
      const isBare = at >= 0 && held[at - 1] !== 0x0d
      done(
        null,
        isBare ? Buffer.concat([held.subarray(0, at), Buffer.from('\r'), held.subarray(at)]) : held,
      )
    },
  })
}
