/**
 * Set up for every file of tests with sessions: their shells do not read what the machine's user has in ~/.bashrc.
 * A version manager in it takes a second before each prompt, and no test is about it.
 */
import process from "node:process";

process.env["WAYPOINT_STARTUP_FILES"] = "off";
