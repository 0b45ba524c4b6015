import { takeRandomSteps } from "../support/restless-steps.ts";

takeRandomSteps(1, { copiesAhead: false });
