/*
 * `npm start` tells the API which parts of the service do not run, over the channel between a Node process and its
 * parent. A process that is started by anything else has no such channel.
 */

let down: readonly string[] = []

if (process.channel !== undefined) {
  process.on('message', (message: { down?: string[] }) => {
    down = message.down ?? []
  })
  // The channel does not keep the process running.
  process.channel.unref()
}

/** The member of `/readyz` that names the parts of the service that do not run; none when all run. */
export function downMembers(): { down?: readonly string[] } {
  return down.length === 0 ? {} : { down }
}
