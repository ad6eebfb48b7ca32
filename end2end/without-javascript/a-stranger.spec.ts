import { theWayOfAStranger } from "../stranger";

theWayOfAStranger();
