// What a window shows again after a reload or a restart: its messages, and with them the questions that wait.

const { join } = require('node:path')
const { PermissionGate } = require('spillway')
const { readJson, writeJson } = require('./json-file.cjs')

const MOST_MESSAGES = 200

/** The conversation about one folder; that about another folder is not continued. */
class Conversation {
  constructor(dataDir, cwd) {
    this.file = join(dataDir, 'conversation.json')
    this.cwd = cwd
    const kept = readJson(this.file)
    const isSame = kept?.cwd === cwd && Array.isArray(kept.messages)
    this.messages = isSame ? kept.messages.map(resumed) : []
    this.keptGate = isSame ? kept.gate : undefined
  }

  /** The gate with the questions of an earlier run. */
  openGate(policy, options) {
    try {
      this.gate = PermissionGate.fromJSON(this.keptGate, policy, options)
    } catch {
      this.gate = new PermissionGate(policy, options)
    }
    return this.gate
  }

  /** Adds a message, or what has changed of it. */
  put(message) {
    const index = this.messages.findIndex(({ id }) => id === message.id)
    if (index === -1) this.messages.push(message)
    else this.messages[index] = message
    this.messages.splice(0, this.messages.length - MOST_MESSAGES)
    this.save()
  }

  save() {
    writeJson(this.file, { cwd: this.cwd, messages: this.messages, gate: this.gate })
  }
}

/** A command does not outlive the application; a question does. */
function resumed(message) {
  if (message.status !== 'running') return message
  return { ...message, status: 'stopped', text: 'The application was closed while this ran.', livePath: undefined }
}

module.exports = { Conversation }
